"""What an earlier report says, read back."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pooldiag.cli.target.earlier import read_report
from pooldiag.model.readings import PlaceKind, RedPlace, Signature, SignatureKind
from pooldiag.render import Page, render
from tests.render.attribute_samples import SAMPLES, changed

PLACES = [
    RedPlace(text="before the first case of all", kind=PlaceKind.TEXT),
    RedPlace(text="before the first case", kind=PlaceKind.AMONG_CASES),
    RedPlace(text="output a: b: absent", kind=PlaceKind.LACK, output="a: b"),
    RedPlace(text="/home/ada/engine/tests/test_x.py:5", shown="tests/test_x.py:5"),
    RedPlace(text="video.bin", kind=PlaceKind.OUTPUT, output="video.bin"),
]


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_the_place_of_a_red_comes_back_as_it_was_written(place: RedPlace, tmp_path: Path) -> None:
    sample = next(iter(SAMPLES.values()))
    red = Signature(kind=SignatureKind.FAILURE, place=place)
    whole = changed(sample, attribution=replace(sample.attribution, signature=red))
    document = json.loads(render(whole, form="json", page=Page()))
    document["invocation"] = {"command": "attribute", "options": [], "target": ["x"], "directory": "/"}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(document))
    (found,) = read_report(path).signatures[:1]
    assert found == red
    assert str(found) == str(red)


def test_what_a_red_said_comes_back_as_it_was_written(tmp_path: Path) -> None:
    sample = next(iter(SAMPLES.values()))
    red = Signature(kind=SignatureKind.FAILURE, case="a", message="expected 3\n\x1b got \udcff 4")
    whole = changed(sample, attribution=replace(sample.attribution, signature=red))
    document = json.loads(render(whole, form="json", page=Page()))
    document["invocation"] = {"command": "attribute", "options": [], "target": ["x"], "directory": "/"}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(document))
    assert read_report(path).signatures[0].message == "expected 3\n\x1b got \\xff 4"


def test_the_place_in_a_report_of_an_older_version_is_read_from_its_words(tmp_path: Path) -> None:
    signature = {"kind": "count", "signal": None, "case": None, "place": "output out.bin: absent"}
    document = {
        "schema": "pooldiag.report/1",
        "command": "attribute",
        "signature": signature,
        "invocation": {"command": "attribute", "options": [], "target": ["x"], "directory": "/"},
    }
    path = tmp_path / "report.json"
    path.write_text(json.dumps(document))
    (found,) = read_report(path).signatures
    assert found.place == RedPlace(text="output out.bin: absent", kind=PlaceKind.LACK, output="out.bin")
