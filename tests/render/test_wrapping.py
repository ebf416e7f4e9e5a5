"""Text in lines of a page, in which every word can be copied."""

import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from pooldiag.model.readings import RedPlace, Signature, SignatureKind
from pooldiag.render import Page, render
from pooldiag.render._wrapping import wrapped
from tests.render.attribute_samples import changed
from tests.render.bisect_samples import BISECTIONS, ORDERS

NODE = "tests/integration/kernels/test_paged_attention_decode.py::TestDecode::test_many_heads[bf16-cuda-128-True]"
OTHER = "tests/unit/test_allocator_reuse.py::test_scratch_is_given_back_after_an_error_in_the_middle[stream-3-large]"


@given(st.lists(st.text(alphabet="ab日é", min_size=1, max_size=30), min_size=1), st.integers(1, 40))
def test_every_word_stays_whole_and_no_line_with_two_words_is_too_long(words: list[str], width: int) -> None:
    lines = wrapped(" ".join(words), width).splitlines()
    assert [word for line in lines for word in line.split()] == words
    assert all(cell_len(line) <= width or " " not in line for line in lines)
    assert all(cell_len(f"{line} {after.split()[0]}") > width for line, after in pairwise(lines))


def test_spaces_within_a_line_stay_as_they_are() -> None:
    assert wrapped("  a   b  c", 7) == "  a   b\nc"
    assert wrapped("", 7) == ""


def test_the_parameters_of_a_test_stay_with_its_name() -> None:
    name = "tests/x.py::test_reads[a b-c  d]"
    assert wrapped(f"failure in {name}, case 3 [of 9]", 24) == f"failure in\n{name},\ncase 3 [of 9]"
    assert wrapped("tests/x.py::test_y [of 9] here", 10) == "tests/x.py::test_y\n[of 9]\nhere"


@pytest.mark.parametrize("width", [80, 140])
@pytest.mark.parametrize("name", ["bisect-found", "orders-mixed"])
def test_a_long_name_can_be_copied(name: str, width: int) -> None:
    red = Signature(kind=SignatureKind.FAILURE, case=NODE, place=RedPlace(text="tests/x.py:5"), message="boom")
    if name in BISECTIONS:
        report = BISECTIONS[name]
        found = replace(report.found, victim=NODE, signature=red, polluters=(OTHER,))
        text = render(changed(report, found=found), form="table", page=Page(width=width))
        rows = [line for line in text.splitlines() if re.match("Victim|Polluter", line)]
        assert [row.split()[1].rstrip(",") for row in rows] == [NODE, OTHER]
    else:
        orders = ORDERS[name]
        assert orders.shortest is not None
        text = render(
            replace(orders, shortest=replace(orders.shortest, victim=NODE)), form="table", page=Page(width=width)
        )
    assert NODE in text.split("\n\n")[0]
    assert "…" not in text
