"""Elements of a growing file, whatever stands in them."""

from hypothesis import given
from hypothesis import strategies as st

from pooldiag.frameworks._xml import TEXT_LIMIT, XmlElements


def texts(*pieces: bytes) -> list[str]:
    found: list[str] = []
    elements = XmlElements(began=lambda _, __: None, ended=lambda _, text: found.append(text))
    for piece in pieces:
        elements.feed(piece)
    return found


def test_of_a_long_text_the_head_is_kept() -> None:
    long = b"<a>" + b"0123456789" * 1000 + b"</a>"
    assert texts(long) == [("0123456789" * 1000)[:TEXT_LIMIT]]
    assert texts(*[long[place : place + 999] for place in range(0, len(long), 999)]) == texts(long)


@given(st.binary(max_size=60), st.data())
def test_any_bytes_in_a_text_come_out_the_same_however_they_are_cut(inside: bytes, data: st.DataObject) -> None:
    whole = b"<a><b>" + inside + b"</b>tail</a>"
    cut = data.draw(st.integers(0, len(whole)))
    assert texts(whole[:cut], whole[cut:]) == texts(whole)
    assert texts(*[bytes([byte]) for byte in whole]) == texts(whole)


def test_text_stands_between_two_tags() -> None:
    assert texts(b"<a>one<b>two</b>three</a>") == ["two", "three"]
