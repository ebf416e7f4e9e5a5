"""A pytest suite of 48 cases that build on each other. 14 of them are red alone: each needs earlier cases to be green.

13 are green in file order. The setters of one stand behind it, so only another order clears it; those of another are
too many where all other cases run first. Most fail at one line alone, and at another line after some of the cases.
"""

from dataclasses import dataclass
from pathlib import Path

STATE = "chain.py"
FILES = ("test_first.py", "test_second.py")
PER_FILE = 24
HEAD = '"""Cases that add to a list that all of them share."""\n\nfrom chain import done\n'


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One case: what it does, and for one that is red alone, each smallest set of cases that makes it green."""

    name: str
    body: tuple[str, ...]
    setters: tuple[tuple[str, ...], ...] = ()


def adds(name: str, what: str, *asserts: str, setters: tuple[str, ...] = ()) -> Case:
    """Return a case that adds something to the list, after what it asserts."""
    body = (*(f"assert {text}" for text in asserts), f'done.append("{what}")')
    return Case(name=name, body=body, setters=(setters,) if setters else ())


def needs(name: str, *asserts: str, setters: tuple[tuple[str, ...], ...]) -> Case:
    """Return a case that only asserts, one line each."""
    return Case(name=name, body=tuple(f"assert {text}" for text in asserts), setters=setters)


def plain(number: int) -> Case:
    """Return a case that has nothing to do with the others."""
    return Case(name=f"plain_{number:02}", body=(f"assert {number} + {number} == {2 * number}",))


# Red without the case before it, and adds all the same.
RED_SETTER = Case(
    name="starts",
    body=('prepared = "prepared" in done', 'done.append("started")', "assert prepared"),
    setters=(("prepares",),),
)
LINKS = Case(name="links_c", body=('if "c" in done:', '    done.append("c linked")'))

CASES = (
    # the first file
    adds("opens", "open"),
    adds("adds_a", "a"),
    adds("adds_b", "b"),
    needs("has_a_and_b", '{"a", "b"} <= set(done)', setters=(("adds_a", "adds_b"),)),
    plain(1),
    adds("prepares", "prepared"),
    RED_SETTER,
    needs("runs", '"started" in done', setters=(("starts",),)),
    plain(2),
    needs("reads_a", "done", '"a" in done', setters=(("adds_a",),)),
    needs("is_closed", "done", '"closed" in done', setters=(("closes",),)),
    adds("adds_c", "c"),
    plain(3),
    LINKS,
    plain(4),
    needs("walks_to_c", '"c linked" in done', setters=(("adds_c", "links_c"),)),
    adds("adds_x_one_way", "x"),
    plain(5),
    adds("adds_x_another_way", "x"),
    needs("reads_x", "done", '"x" in done', setters=(("adds_x_one_way",), ("adds_x_another_way",))),
    plain(6),
    adds("counts_1", "n"),
    adds("counts_2", "n"),
    plain(7),
    # the second file
    adds("counts_3", "n"),
    plain(8),
    needs("has_counted_3", 'done.count("n")', 'done.count("n") == 3', setters=(("counts_1", "counts_2", "counts_3"),)),
    adds("counts_4", "n"),
    plain(9),
    plain(10),
    adds("first_step", "step 1"),
    plain(11),
    adds("second_step", "step 2", "done", '"step 1" in done', setters=("first_step",)),
    plain(12),
    needs("arrives", '"step 1" in done', '"step 2" in done', setters=(("first_step", "second_step"),)),
    plain(13),
    needs("is_open", "done", '"open" in done', setters=(("opens",),)),
    plain(14),
    adds("comes_late", "late"),
    needs("has_a_and_late", '{"a", "late"} <= set(done)', setters=(("adds_a", "comes_late"),)),
    plain(15),
    needs("has_a_b_c", '"a" in done', '"b" in done', '"c" in done', setters=(("adds_a", "adds_b", "adds_c"),)),
    plain(16),
    plain(17),
    adds("closes", "closed"),
    plain(18),
    plain(19),
    needs("still_runs", "done", '"started" in done', setters=(("starts",),)),
)
VICTIMS = tuple(case for case in CASES if case.setters)


def node_id(name: str) -> str:
    """Return the name of a case as pytest has it."""
    place = [case.name for case in CASES].index(name)
    return f"{FILES[place // PER_FILE]}::test_{name}"


def write(folder: Path) -> None:
    """Write the suite into a folder."""
    folder.joinpath("pytest.ini").write_text("[pytest]\n", encoding="utf-8")  # none above it counts
    folder.joinpath(STATE).write_text("done = []\n", encoding="utf-8")
    for number, file in enumerate(FILES):
        cases = CASES[number * PER_FILE : (number + 1) * PER_FILE]
        folder.joinpath(file).write_text("\n\n".join((HEAD, *map(_text, cases))), encoding="utf-8")


def _text(case: Case) -> str:
    return "\n".join((f"def test_{case.name}():", *(f"    {line}" for line in case.body), ""))
