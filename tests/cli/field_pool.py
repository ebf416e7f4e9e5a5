"""What a user types to diagnose a target whose pool reads FIELD_*, and what a report on it may say."""

from collections.abc import Iterable
from typing import Any

from tests.examples.plain_runs import ROLES, SWITCHES

COUNTING = ("--stats", "FIELD_STATS=1", "--counter", r"hits=(\d+)")
SWITCHED = tuple(role for role in ROLES if role not in {"baseline", "isolate", "quarantine"})
FILLS = {"fills_on": "hand-out", "ordered": "yes"}
GREEN = "green"
OPEN = None


def arms(*roles: str) -> tuple[str, ...]:
    """Return the words for the switches of these roles, and for the counters."""
    variables = {role: " ".join(f"{name}={value}" for name, value in SWITCHES[role].items()) for role in roles}
    return (*(word for role, text in variables.items() for word in ("--arm", f"{role}={text}")), *COUNTING)


def properties(role: str, **known: str) -> tuple[str, ...]:
    """Return the words that say what is known of a role's switch."""
    return tuple(word for name, value in known.items() for word in ("--property", f"{role}.{name}={value}"))


def fills(**known: str) -> tuple[str, ...]:
    """Return the words that say how the pool fills; on hand-out, before the user's first work, unless `known`."""
    return (*properties("poison-n", **FILLS | known), *properties("poison-0", **FILLS | known))


ALL = (*arms(*SWITCHED), *fills())
"""All switches but the quarantine, and what is known of the fills."""


def answer_of(report: dict[str, Any]) -> str | None:
    """Return the answer, `green` for a green; a report that is blocked has none."""
    assert report["status"] != "blocked", report["blocked_by"]
    if report["status"] == "green":
        return GREEN
    answer: str | None = report["answer"]
    assert (report["status"] == "established") == (answer is not None or report["mechanism"] is not None)
    return answer


def named_in(report: dict[str, Any]) -> set[str]:
    """Return the mechanism and the candidates."""
    candidates = {entry["mechanism"] for entry in report["candidates"]}
    return candidates if report["mechanism"] is None else candidates | {report["mechanism"]}


def check(report: dict[str, Any], answers: Iterable[str | None], mechanisms: Iterable[str]) -> None:
    """Check that the answer is one of these, and that a mechanism which is named is one of those."""
    assert answer_of(report) in set(answers)
    assert report["mechanism"] in {None, *mechanisms}
