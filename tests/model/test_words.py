"""What the vocabulary itself can do: environments, command lines, signatures in words."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pooldiag.model.readings import RedPlace, Signature, SignatureKind
from pooldiag.model.runs import Environment
from pooldiag.model.settings import CommandLine
from pooldiag.model.signals import SIGNAL_NAMES, signal_name, signal_of_exit_code
from pooldiag.model.words import count, listed, nearest, percent


def test_a_later_change_of_a_variable_wins() -> None:
    first = Environment(set=(("A", "1"), ("B", "2")), unset=("C", "D"))
    merged = first.merged(Environment(set=(("C", "3"), ("A", "4")), unset=("B",)))
    assert dict(merged.set) == {"A": "4", "C": "3"}
    assert merged.unset == ("D", "B")
    assert merged.apply({"A": "0", "B": "0", "D": "0", "E": "5"}) == {"A": "4", "C": "3", "E": "5"}


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8")))
def test_a_command_line_is_one_that_a_shell_accepts(value: str) -> None:
    line = Environment(set=(("POOL", value),), unset=("HOME",)).command_line(("printenv", "POOL"))
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=True)
    assert done.stdout.decode() == f"{value}\n"


def test_without_a_change_the_command_line_is_the_command() -> None:
    assert Environment().command_line(("./a b", "-x")) == "'./a b' -x"


def test_a_suggestion_replaces_the_options_that_it_names_and_keeps_the_rest() -> None:
    line = CommandLine(
        command="attribute", options=("--seed=7", "--order=rand", "--no-lock"), target=("./t", "--seed=9")
    )
    assert line.having("--seed=8") == "pooldiag attribute --order=rand --no-lock --seed=8 ./t --seed=9"


@pytest.mark.parametrize(
    ("signature", "words"),
    [
        (
            Signature(kind=SignatureKind.CRASH, signal="SIGSEGV", case="a", place=RedPlace(text="/long/way/t.cpp:3")),
            "SIGSEGV in a (way/t.cpp:3)",
        ),
        (Signature(kind=SignatureKind.NAN, place=RedPlace(text="out/video.bin")), "NaN or infinity in out/video.bin"),
        (
            Signature(kind=SignatureKind.HANG, place=RedPlace(text="after the last case")),
            "hang outside any case (after the last case)",
        ),
        (
            Signature(kind=SignatureKind.COUNT, place=RedPlace(text="output a/b.bin: absent")),
            "incomplete outside any case (output a/b.bin: absent)",
        ),
    ],
)
def test_a_signature_says_what_and_where(signature: Signature, words: str) -> None:
    assert str(signature) == words


def test_signals_have_the_numbers_of_the_kernel() -> None:
    names = subprocess.run(
        ["bash", "-c", "kill -l 11 6 7 9"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert [signal_name(number) for number in (11, 6, 7, 9)] == [f"SIG{name}" for name in names]
    assert {signal_of_exit_code(128 + number) for number in SIGNAL_NAMES} == set(SIGNAL_NAMES)
    assert signal_of_exit_code(1) is None
    assert signal_name(40) == "signal 40"


def test_a_probability_is_not_rounded_up_to_certainty() -> None:
    assert percent(0.99999) == "99.9 %"
    assert percent(0.99) == "99 %"


def test_nouns_go_with_their_number() -> None:
    assert [count(number, "run") for number in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]


def test_words_are_listed_as_in_a_sentence() -> None:
    assert [listed(words) for words in ((), ("a",), ("a", "b"), ("a", "b", "c"))] == ["", "a", "a and b", "a, b and c"]


def test_the_nearest_name_is_offered_unless_it_is_too_far_away() -> None:
    assert nearest("bypas", ["exact", "bypass"]) == "bypass"
    assert nearest("x", []) is None
    assert nearest("zzz", ["bypass"], likeness=0.3) is None
