import re
from dataclasses import replace

from pooldiag.model.bisections import OrderResult, OrdersReport
from pooldiag.model.cases import Order
from pooldiag.model.readings import Cascade, RedPlace, Signature, SignatureKind
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


def test_many_lists_that_orders_share_are_counted_and_rows_that_are_alike_too() -> None:
    green, red = MIXED.orders[0], MIXED.orders[3]
    named = [replace(red, order=seed(number)) for number in range(1, 8)]
    same = [replace(red, order=seed(10 * number), same_as=seed(number), run=None) for number in range(1, 8)]
    report = replace(MIXED, orders=(green, *named, *same), shortest=None)
    lines = shown(report, 1000).splitlines()
    assert "  - seeds 3, 30 are the same list: run once" in lines
    assert "  - 4 more lists of several orders, in report.json" in lines
    assert [line.split()[:2] for line in lines if line.startswith(("file", "seed "))] == [
        ["file", "green"],
        ["seed", "1"],
        ["seed", "2"],
    ]
    assert "  - 12 more orders are like these, in report.json" in lines
    few = replace(report, orders=report.orders[:12])
    assert len([line for line in shown(few, 1000).splitlines() if line.startswith("seed ")]) == 11


def test_the_order_of_the_shortest_prefix_has_a_row_among_many() -> None:
    assert MIXED.shortest is not None
    named = [replace(MIXED.orders[3], order=seed(number)) for number in range(1, 21)]
    shortest = replace(MIXED.shortest, order=seed(17))
    text = shown(replace(MIXED, orders=tuple(named), shortest=shortest, by_accident=False))
    assert re.search("^seed 17 +red +A ", text, re.MULTILINE)
    assert not re.search("^seed 16 ", text, re.MULTILINE)


def test_where_each_order_fails_other_cases_their_numbers_are_told() -> None:
    sets = [(CRASHING, *NAMES[:number]) for number in range(4)]
    orders = [replace(MIXED.orders[3], order=seed(at), failing=names) for at, names in enumerate(sets, 1)]
    text = in_one_line(shown(replace(MIXED, orders=tuple(orders), shortest=None)))
    assert f"- failing 1 to 4 of 13 cases, 4 different sets, in all of them {CRASHING}" in text


def test_reds_that_say_the_same_are_one_symptom_whichever_comes_first() -> None:
    def first_of(order: int, *names: str) -> OrderResult:
        place = RedPlace(text="gpu.py:5")
        reds = [Signature(kind=SignatureKind.FAILURE, case=name, place=place, message="lost") for name in names]
        result = MIXED.orders[3]
        assert result.run is not None
        run = replace(result.run, reading=replace(result.run.reading, signatures=tuple(reds)))
        cascade = Cascade(first=reds[0], followers=tuple(reds[1:]))
        return replace(result, order=seed(order), run=run, victim=names[0], failing=names, cascades=(cascade,))

    orders = (first_of(1, "a", "b", "c"), first_of(2, "b", "a"), first_of(3, "c", "b"))
    text = in_one_line(shown(replace(MIXED, orders=orders, shortest=None)))
    assert "Symptoms A failure in a (gpu.py:5) - 3/3 red orders: seeds 1, 2, 3 - lost - failing 2 to 3 of 13" in text
    assert "also 2 more with the same message, the first of them b" in text
    assert " B " not in text
