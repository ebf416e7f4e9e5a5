"""Canaries as profiles name them: which small program to run, and what each arm must make of what it prints."""

import re
import sys
from importlib.resources import files

from pooldiag.errors import UsageError
from pooldiag.model.arms import Canary, CanaryRule, Role
from pooldiag.model.words import nearest
from pooldiag.profiles.switches import role_named
from pooldiag.toml_tables import TomlTable

FACTS = ("fresh", "freed", "handed", "again")
"""What `_heap_canary.py` prints of every block size; its own words for them stand there."""

_VALUE = re.compile(r"0x[0-9a-f]{2}|stale|mixed|unmapped|never|sometimes|always|fill")  # fill: any byte that is not 0
_ALLOCATORS = {
    "libc": ("-I", "-S"),
    "python": ("-P", "-s", "-S"),  # not -I: it would ignore PYTHONMALLOC
}


def load_canary(table: TomlTable) -> Canary:
    """Read the table `canary` of a profile."""
    table.only(("allocator", "preload", "arms"))
    allocator = table.text("allocator")
    if allocator not in _ALLOCATORS:
        raise UsageError(
            f"{table.where}: no allocator {allocator!r}", hint=f"nearest: {nearest(allocator, _ALLOCATORS)}"
        )
    arms = table.table("arms")
    rules = tuple(_rule(arms.table(role), role_named(role, where=arms.where)) for role in arms.values)
    if not rules:
        raise UsageError(f"{table.where}: is asked about no arm", hint="add arms.ROLE with what must be seen")
    program = str(files(__package__) / "_heap_canary.py")
    argv = (sys.executable, *_ALLOCATORS[allocator], program, allocator)
    return Canary(argv=argv, rules=rules, preload=table.text_if_any("preload"))


def _rule(table: TomlTable, role: Role) -> CanaryRule:
    table.only((*FACTS, "partly", "inert"))
    expects = tuple((fact, _values(table, fact)) for fact in table.values if fact in FACTS)
    if not expects:
        raise UsageError(f"{table.where}: expects nothing", hint=f"facts: {', '.join(FACTS)}")
    return CanaryRule(role=role, expects=expects, partly=table.text_if_any("partly"), inert=table.text_if_any("inert"))


def _values(table: TomlTable, fact: str) -> tuple[str, ...]:
    values = table.texts(fact)
    for value in values or ("",):
        if _VALUE.fullmatch(value) is None:
            raise UsageError(f"{table.where}: {fact}: {value!r} is never printed", hint="0x7f, stale, unmapped, never")
    return values
