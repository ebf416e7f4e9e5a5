"""What a report says of many reds, and of what they said."""

from dataclasses import replace

import pytest

from pooldiag.model.bisections import BisectReport
from pooldiag.model.readings import Cascade, Reading, RedPlace, RunReading, Sight, Signature, SignatureKind
from pooldiag.render import Page, render
from pooldiag.render.run_words import run_line
from tests.render.attribute_samples import SAMPLES, changed
from tests.render.bisect_samples import BISECTIONS, ORDERS

CUDA = "RuntimeError: CUDA error: an illegal memory access was encountered"


def red(name: str, message: str | None = CUDA, place: str | None = "gpu.py:5") -> Signature:
    where = None if place is None else RedPlace(text=place)
    return Signature(kind=SignatureKind.FAILURE, case=name, place=where, message=message)


FIRST, OTHER = red("test_04"), red("test_61", "AssertionError: wrong scale", "gpu.py:14")
BEHIND = tuple(red(f"test_after[{number}]") for number in range(5, 30))
CASCADE = Cascade(first=FIRST, followers=BEHIND)


def bisection(followed: Signature, *others: Signature, cascades: tuple[Cascade, ...] = (CASCADE,)) -> BisectReport:
    report = BISECTIONS["bisect-found"]
    found = replace(report.found, victim=followed.case, signature=followed)
    return replace(report, found=found, others=others, cascades=cascades)


def shown(report: object, *, form: str = "table", width: int = 1000) -> str:
    assert isinstance(report, BisectReport)
    return render(report, form=form, page=Page(width=width))


def others_of(report: BisectReport) -> list[str]:
    lines = shown(report).splitlines()
    start = lines.index("Other reds, not followed") + 1
    return [line.removeprefix("  - ") for line in lines[start : lines.index("", start)]]


def test_those_that_follow_the_victim_are_one_line_and_another_stands_apart() -> None:
    assert others_of(bisection(FIRST, *BEHIND, OTHER)) == [
        "25 more with the same message, the first of them test_after[5]",
        "failure in test_61 (gpu.py:14): AssertionError: wrong scale",
    ]


def test_those_that_follow_another_red_are_told_behind_it() -> None:
    assert others_of(bisection(OTHER, FIRST, *BEHIND)) == [
        f"failure in test_04 (gpu.py:5): {CUDA}; 25 more with the same message, the first of them test_after[5]"
    ]
    (one, *_) = BEHIND
    assert others_of(bisection(OTHER, FIRST, one, cascades=(replace(CASCADE, followers=(one,)),))) == [
        f"failure in test_04 (gpu.py:5): {CUDA}; 1 more with the same message, test_after[5]"
    ]


def test_a_victim_that_follows_is_not_among_the_others() -> None:
    (first, *_) = others_of(bisection(BEHIND[0], FIRST, *BEHIND[1:]))
    assert first == "25 more with the same message, the first of them test_04"


def test_reds_without_a_message_are_at_the_same_place() -> None:
    reds = [red(f"case {number}", None) for number in range(3)]
    cascade = Cascade(first=reds[0], followers=tuple(reds[1:]))
    report = bisection(reds[0], *reds[1:], cascades=(cascade,))
    assert others_of(report) == ["2 more at the same place, the first of them case 1"]


def test_many_reds_that_say_different_things_end_in_a_count() -> None:
    reds = [red(f"case {number}", f"error {'x' * number}") for number in range(30)]
    lines = others_of(bisection(OTHER, *reds, cascades=()))
    assert len(lines) == 6
    assert lines[-1] == "and 25 more, in report.json"


def test_the_document_names_all_of_them() -> None:
    text = shown(bisection(FIRST, *BEHIND, OTHER), form="json")
    assert all(f'"{one.case}"' in text for one in (*BEHIND, OTHER))
    assert '"cascades"' in text
    assert '"followers": [\n' in text


def test_the_lines_of_a_message_stand_below_the_victim() -> None:
    said = replace(FIRST, message=f"expected \x1b[31m3\n  got 4 at 0x7f\n{'y' * 400}")
    lines = shown(bisection(said)).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("Message"))
    assert lines[start - 1].startswith("Victim ")
    assert lines[start] == r"Message   expected \x1b[31m3"
    assert lines[start + 1] == f"{' ' * 10}  got 4 at 0x7f"
    assert lines[start + 2] == f"{' ' * 10}{'y' * 199}…"
    assert "- **Message:** expected" in shown(bisection(said), form="markdown")


def test_a_message_that_stands_for_a_place_is_said_once() -> None:
    worded = red("case 1", "device error 700", "device error …")
    assert others_of(bisection(OTHER, worded, cascades=())) == ["failure in case 1: device error 700"]


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_attribute_says_the_message_and_the_other_reds_in_one_line(form: str) -> None:
    report = SAMPLES["loud"]
    about = tuple(replace(report.attribution, signature=one) for one in (*BEHIND, OTHER))
    own = replace(report.attribution, signature=FIRST)
    text = render(changed(report, attribution=own, others=about, cascades=(CASCADE,)), form=form, page=Page(width=1000))
    text = text.replace("\\", "").replace("**", "")
    assert "Message" in text
    assert "- 25 more with the same message, the first of them test_after[5]\n" in text
    assert "- failure in test_61 (gpu.py:14): AssertionError: wrong scale; " in text
    assert "test_after[6]" not in text


def test_orders_say_the_message_of_a_symptom_and_those_that_follow_in_one_line() -> None:
    report = ORDERS["orders-mixed"]
    results = []
    for result in report.orders[:2]:
        assert result.run is not None
        reading = RunReading(run=result.run.id, reading=Reading.RED, signatures=(FIRST, *BEHIND, OTHER))
        results.append(replace(result, run=replace(result.run, reading=reading), cascades=(CASCADE,)))
    text = render(replace(report, orders=tuple(results)), form="table", page=Page(width=1000))
    assert f"- {CUDA}\n" in text
    assert "- also 25 more with the same message, the first of them test_after[5]\n" in text
    assert "- also failure in test_61 (gpu.py:14): AssertionError: wrong scale\n" in text
    assert "test_after[6]" not in text


def test_a_run_of_many_reds_is_one_line() -> None:
    whole = BISECTIONS["bisect-found"].whole
    assert whole is not None
    many = replace(whole, reading=replace(whole.reading, signatures=(FIRST, *BEHIND)))
    assert run_line(many).endswith("failure in test_04 (gpu.py:5); failure in test_after[5] (gpu.py:5); and 24 more")


def test_a_new_red_of_an_arm_is_told_with_its_message() -> None:
    report = SAMPLES["loud"]
    first, second, *rest = report.arms
    assert second.shown is not None
    new = replace(second.runs[0], reading=RunReading(run="02", reading=Reading.RED, signatures=(OTHER, *BEHIND)))
    arm = replace(second, runs=(new,), sights=(Sight.NEW_RED,), shown=new)
    text = render(changed(report, arms=(first, arm, *rest)), form="table", page=Page(width=1000))
    assert "new red, failure in test_61 (gpu.py:14): AssertionError: wrong scale; failure in test_after[5]" in text
    assert "; and 24 more\n" in text
