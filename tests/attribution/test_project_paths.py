"""Where a red is, as a path from the project."""

from pathlib import PurePath

import pytest

from pooldiag.attribution.project_paths import seen_from
from pooldiag.attribution.signatures import same_red
from pooldiag.model.readings import PlaceKind, Reading, RedPlace, RunReading, Signature, SignatureKind

HERE, PROJECT = PurePath("/home/ada/engine/bench"), PurePath("/home/ada/engine")


def seen(text: str, kind: PlaceKind = PlaceKind.TEXT, *folders: PurePath) -> Signature:
    place = RedPlace(text=text, kind=kind)
    red = Signature(kind=SignatureKind.FAILURE, case="a", place=place)
    reading = RunReading(run="01", reading=Reading.RED, signatures=(red,))
    (found,) = seen_from(reading, folders or (HERE, PROJECT), directory=HERE).signatures
    return found


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/ada/engine/bench/tests/test_x.py:5", "tests/test_x.py:5"),
        ("/home/ada/engine/tests/test_x.py:5", "tests/test_x.py:5"),
        ("/usr/include/c++/13/vector:5", "13/vector:5"),
        ("tests/unit/test_x.py:5", "tests/unit/test_x.py:5"),
        ("../tests/test_x.py:5", "tests/test_x.py:5"),
        ("../../other/deep/test_x.py:5", "deep/test_x.py:5"),
        ("../../../../../../x.py:5", "../x.py:5"),
        ("src/../../tests/test_x.py:5", "tests/test_x.py:5"),
        ("/x.py:5", "/x.py:5"),
        ("x.py:5", "x.py:5"),
        ("cannot open /home/ada/engine/x", "cannot open /home/ada/engine/x"),
    ],
)
def test_a_source_line_is_a_path_from_where_one_works_or_from_the_project(text: str, shown: str) -> None:
    assert str(seen(text).place) == shown


def test_an_output_is_shown_as_it_was_named() -> None:
    assert str(seen("/home/ada/engine/out.bin:5", PlaceKind.OUTPUT).place) == "/home/ada/engine/out.bin:5"


def test_a_red_is_the_same_wherever_it_is_looked_at_from() -> None:
    near, far = (
        seen("/home/ada/engine/tests/unit/test_x.py:5", PlaceKind.TEXT, one) for one in (PROJECT, PurePath("/srv"))
    )
    assert str(near) != str(far)
    assert near == far
    assert same_red(near, far)
    assert {near} == {far}
