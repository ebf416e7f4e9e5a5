import re
from dataclasses import replace

from pooldiag.model.bisections import OrderResult, OrdersReport
from pooldiag.model.cases import Order
from pooldiag.model.readings import RedPlace
from pooldiag.render import Page, render
from tests.render.attribute_samples import CRASHING, NAMES
from tests.render.bisect_samples import ORDERS, seed
from tests.render.samples import plain

MIXED = ORDERS["orders-mixed"]


def shown(report: OrdersReport, width: int = 80) -> str:
    return render(report, form="table", page=Page(width=width))


def in_one_line(text: str) -> str:
    return " ".join(text.split())


def test_a_void_order_is_neither_red_nor_green() -> None:
    text = plain("orders-mixed", 80)
    assert re.search(r"^seed 11 +void +- ", text, re.MULTILINE)
    assert "seed 11: void: No space left on device (stderr, line 3)" in text
    void = replace(MIXED, orders=MIXED.orders[-1:], by_accident=False, shortest=None)
    assert shown(void).startswith("Nothing red so far, green in 0/8 orders\n1/1 orders say nothing.")


def test_an_order_without_a_run_is_not_green() -> None:
    report = replace(MIXED, orders=(*ORDERS["orders-green"].orders, OrderResult(order=seed(9))))
    report = replace(report, by_accident=False, shortest=None, asked=6)
    assert shown(report).startswith("Nothing red so far, green in 5/6 orders\n1/6 orders say nothing.")
    assert re.search(r"^seed 9 +not run +- ", shown(report), re.MULTILINE)


def test_sets_that_differ_between_orders_have_their_orders() -> None:
    one = replace(MIXED.orders[2], failing=(CRASHING, NAMES[0], NAMES[2], NAMES[4], NAMES[6]))
    text = in_one_line(shown(replace(MIXED, orders=(MIXED.orders[0], one, MIXED.orders[3]))))
    assert "- failing 5/13 cases in seed 1: " in text
    assert "; and 2 more" in text
    assert f"- failing 1/13 cases in seed 7: {CRASHING}" in text


def test_a_same_list_has_no_failing_set_of_its_own() -> None:
    same = replace(MIXED.orders[4], failing=())
    text = in_one_line(shown(replace(MIXED, orders=(*MIXED.orders[:4], same))))
    assert f"seeds 1, 7, 8 - failing 1/13 cases: {CRASHING}" in text


def test_of_a_long_prefix_both_ends_are_named() -> None:
    assert MIXED.shortest is not None
    long = replace(MIXED.shortest, cases=tuple(f"case {number}" for number in range(1, 201)), prefix=200)
    text = shown(replace(MIXED, shortest=long))
    assert re.search(r"\n  6 +case 6\n  \.\.\. +188 more, in report.json\n  195 +case 195\n", text)


def test_a_red_order_without_a_prefix_says_so() -> None:
    text = shown(replace(MIXED, shortest=None))
    assert "The shortest red prefix was not looked for." in text
    assert "shortest" not in plain("orders-partial", 80)


def test_many_orders_are_counted() -> None:
    result = MIXED.orders[2]
    report = replace(MIXED, orders=tuple(replace(result, order=seed(number)) for number in range(1, 41)))
    text = in_one_line(shown(replace(report, by_accident=False)))
    assert text.startswith("Red in 40/40 orders")
    assert "40/40 red orders: seeds 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, and 28 more" in text


def test_more_symptoms_than_letters_are_told_apart() -> None:
    report = MIXED.orders[2]
    assert report.run is not None
    orders = []
    for number in range(30):
        signature = replace(report.run.reading.signatures[0], place=RedPlace(text=f"file.cpp:{number}"))
        run = replace(report.run, id=f"{number}", reading=replace(report.run.reading, signatures=(signature,)))
        orders.append(replace(report, order=seed(number), run=run))
    text = shown(replace(MIXED, orders=tuple(orders)))
    assert re.search(r"^seed 25 +red +Z ", text, re.MULTILINE)
    assert re.search(r"^seed 26 +red +AA ", text, re.MULTILINE)


def test_a_same_list_of_an_order_that_is_not_there_says_nothing() -> None:
    lonely = OrderResult(order=seed(3), same_as=Order())
    text = shown(replace(MIXED, orders=(lonely,), by_accident=False, shortest=None))
    assert re.search(r"^seed 3 +not run ", text, re.MULTILINE)
