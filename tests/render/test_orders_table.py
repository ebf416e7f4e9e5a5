import re
from dataclasses import replace

import pytest

from pooldiag.model.bisections import OrderResult, OrdersReport
from pooldiag.model.cases import Order
from pooldiag.model.readings import RedPlace
from pooldiag.render import RENDERERS, Page
from tests.render.attribute_samples import CRASHING, NAMES
from tests.render.bisect_samples import ORDERS, seed
from tests.render.samples import plain

MIXED = ORDERS["orders-mixed"]


ACCIDENT = "Green by accident of order: file order is green, 5/8 orders are red"
SHORTEST = f"The shortest red prefix is 3: rand order, seed 7, victim {CRASHING}."


def shown(report: OrdersReport, width: int = 80) -> str:
    return RENDERERS["table"](report, Page(width=width))


def in_one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("name", "first_lines"),
    [
        ("mixed", f"{ACCIDENT} {SHORTEST} 1/8 orders say nothing. But 1 of 13 cases passed without an assertion:"),
        ("green", "Green in all of 5 orders: 13/13 cases, 6176 assertions in each Target"),
        ("partial", "Interrupted: this report is partial, it has 2/20 orders."),
        ("blocked", "Blocked: /home/ada/gpu.lock is still held after 2700 s"),
        ("hostile", "Red in 1/1 orders The shortest red prefix is 1: rand order, seed 1, victim [red]x[/red]"),
    ],
)
def test_says_the_answer_first(name: str, first_lines: str) -> None:
    assert in_one_line(plain(f"orders-{name}", 80)).startswith(first_lines)


def test_a_row_tells_where_and_how_an_order_is_red() -> None:
    text = plain("orders-mixed", 80)
    assert re.search(r"^seed 7 +red +A +4/13 +3 +1/13 +3/13 +44, 0 failed$", text, re.MULTILINE)
    assert re.search(r"^seed 1 +red +A +7/13 +- +1/13 +6/13 +90, 0 failed$", text, re.MULTILINE)
    assert re.search(r"^file +green +- +- +- +0/13 +13/13 +552$", text, re.MULTILINE)
    assert re.search(r"^file +green .* 552 +0\.594$", plain("orders-mixed", 140), re.MULTILINE)


def test_orders_that_are_one_list_are_told_as_such() -> None:
    text = plain("orders-mixed", 80)
    assert re.search(r"^seed 8 +red, as 7 +A +- ", text, re.MULTILINE)
    assert "  - seeds 7, 8 are the same list: run once\n" in text


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


def test_orders_with_the_same_symptom_stand_together_with_what_fails() -> None:
    text = in_one_line(plain("orders-mixed", 80))
    first = f"A SIGSEGV in {CRASHING} (test_forward.cpp:212) - 3/5 red orders: seeds 1, 7, 8"
    assert f"{first} - failing 1/13 cases: {CRASHING} B SIGSEGV in {NAMES[1]}" in text
    assert "failing 2/13 cases: SHIPPED 21.00B forward is finite on CUDA; rope table" in text
    assert "also NaN or infinity in video.bin" in text


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


def test_the_shortest_prefix_has_its_cases_and_both_ends() -> None:
    text = plain("orders-mixed", 80)
    assert "\nThe shortest red prefix: 3, rand order, seed 7\n" in text
    assert re.search(r"the first 3 cases, then the victim +red +1/1 +4\n", text)
    assert re.search(r"the first 2 cases, then the victim +green +0/1 +3\n", text)
    assert f"\n  3  {NAMES[10]}\n" in text
    assert "the first case, then the victim" in plain("orders-hostile", 80)


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
