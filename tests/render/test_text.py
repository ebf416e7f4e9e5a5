import shlex
import subprocess
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.render import shell_line, visible

UNSAFE = {"Cc", "Cf", "Cs", "Zl", "Zp"}
ANY_CHARACTER = st.characters(exclude_categories=())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [x] \\ text", "plain [x] \\ text"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\nb\r\tc\x7f\x00", "a\\x0ab\\x0d\\x09c\\x7f\\x00"),
        ("\x9b2J", "\\u009b2J"),
        ("\udcff", "\\xff"),
        ("\ud800", "\\ud800"),
        ("\u202eevil\u2066\u2028", "\\u202eevil\\u2066\\u2028"),
        ("\U000e0041", "\\U000e0041"),
        ("日本 é", "日本 é"),
    ],
)
def test_shows_what_a_terminal_would_obey_or_hide(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_leaves_only_ascii_where_nothing_else_can_be_shown() -> None:
    assert visible("é日\U0001f600", unicode=False) == "\\u00e9\\u65e5\\U0001f600"


@given(st.text(ANY_CHARACTER))
def test_nothing_unsafe_is_ever_left(text: str) -> None:
    shown = visible(text)
    assert not UNSAFE & {unicodedata.category(character) for character in shown}
    assert visible(text, unicode=False).isascii()
    assert visible(shown) == shown
    shown.encode()


@given(st.lists(st.text(ANY_CHARACTER.filter(lambda c: c != "\0" and not "\ud800" <= c <= "\udc7f")), min_size=1))
def test_a_shell_reads_the_shown_command_as_the_same_words(words: list[str]) -> None:
    encodable = [word for word in words if not any("\udd00" <= character <= "\udfff" for character in word)]
    line = shell_line(shlex.join(["printf", "%s\\0", *encodable]))
    assert "\x1b" not in line
    found = subprocess.run(["sh", "-c", line], stdout=subprocess.PIPE, check=True, timeout=30).stdout
    assert found == b"".join(word.encode(errors="surrogateescape") + b"\0" for word in encodable or [""])


def test_a_command_without_oddities_is_left_as_it_is() -> None:
    line = shlex.join(["env", "A=b c", "./t", "--test-case=it's [x] é"])
    assert shell_line(line) == line
    assert shell_line(line, unicode=False).isascii()
