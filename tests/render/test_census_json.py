import json
from base64 import b64decode
from typing import Any

import pytest

from pooldiag.render import Page, render
from tests.render.census_samples import REPORTS
from tests.render.test_json import FILE, VALIDATOR

# The contract, as published: fields may be added, never renamed.
TOP = ("schema", "command", "files")


def rendered(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(render(REPORTS[name], form="json", page=Page()))
    return found


@pytest.mark.parametrize("name", REPORTS)
def test_has_every_field_of_the_contract(name: str) -> None:
    document = rendered(name)
    assert set(TOP) <= set(document)
    assert (document["schema"], document["command"]) == ("pooldiag.report/1", "census")
    for file in document["files"]:
        assert set(FILE) <= set(file)


def test_a_document_that_lacks_what_was_counted_is_refused_by_the_schema() -> None:
    document = rendered("census-several")
    for broken in ({**document, "files": None}, {**document, "files": [{"path": "x"}]}):
        assert not VALIDATOR.is_valid(broken)


def test_the_first_tensor_with_a_nan_is_named_and_so_is_the_first_that_is_not_finite() -> None:
    document = rendered("census-several")
    assert document["first_nan"] == {"path": "model.npz", "tensor": "layers.1.weight"}
    assert document["first_not_finite"] == document["first_nan"]
    assert rendered("census-clean")["first_nan"] is None


def test_values_that_json_has_no_number_for_are_words() -> None:
    (file,) = rendered("census-video")["files"]
    assert file["first"][0] == {"value": "nan", "bits": "0x7fff0000"}
    assert file["min"] is file["absmax"] is None
    (integers,) = (file for file in rendered("census-several")["files"] if file["dtype"] == "i32")
    assert (integers["min"], integers["max"]) == (-4, 59)


def test_names_that_are_not_utf8_have_their_bytes_beside_them() -> None:
    document = rendered("census-hostile")
    path, tensor = document["files"]
    assert "\\xff" in path["path"]
    assert b64decode(path["name_bytes"]).startswith(b"a\x1b[31m\xff")
    assert b64decode(tensor["tensor_bytes"]).startswith(b"t\na\x1b[31m\xff")
    assert "name_bytes" not in tensor
    assert b64decode(document["problems"][0]["name_bytes"]).startswith(b"a\x1b[31m\xff")
    assert document["next"] == "pooldiag census --guess 'a'\"$(printf '\\033')\"'[31m'\"$(printf '\\377')\"''"


def test_a_comparison_stands_beside_its_tensor() -> None:
    same, other, nan = rendered("census-against")["files"]
    assert same["comparison"]["sameness"] == "bitwise-equal"
    assert other["comparison"]["sameness"] == "different"
    assert other["comparison"]["value_different"] == 5
    assert other["comparison"]["first"]["index"] == 100
    assert other["comparison"]["absolute"]["error"] == 0.25
    assert nan["comparison"]["nan"] == {
        "both": 0,
        "here_only": 1,
        "there_only": 0,
        "first_here_only": 7,
        "first_there_only": None,
    }
    assert "comparison" not in rendered("census-video")["files"][0]


def test_a_map_is_told_only_where_one_was_kept() -> None:
    (file,) = rendered("census-strip")["files"]
    assert sum(file["blocks"]["nan"]) == file["nan"] == 1000
    assert file["shape"] is None
    assert "blocks" not in rendered("census-video")["files"][0]


def test_guesses_are_ranked() -> None:
    (guesses,) = rendered("census-guess")["guesses"]
    assert [(guess["dtype"], guess["byte_order"]) for guess in guesses["fitting"]] == [("f32", "little")]
    assert guesses["tried"][0] == guesses["fitting"][0]
    assert guesses["sample_bytes"] == guesses["file_bytes"]
