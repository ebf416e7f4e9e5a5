"""The order-dependent suite of the zoo: what a test asks of it, and what it says of its runs."""

from dataclasses import dataclass
from pathlib import Path


def name(number: int) -> str:
    """The name of a case of the suite, counted from 1."""
    return f"case {number:04d}"


def names(*numbers: int) -> list[str]:
    return [name(number) for number in numbers]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A shape of the fault, as the variables that the suite reads. Cases count from 1; the victim is the last one."""

    cases: int = 13
    polluters: str = ""
    victim: int | None = None
    how: str = "fail"
    rate: float = 1
    cleaners: str = ""
    setters: str = ""
    always: str = ""
    log: Path | None = None

    @property
    def variables(self) -> dict[str, str]:
        given = {
            "SUITE_CASES": str(self.cases),
            "SUITE_VICTIM": str(self.victim or self.cases),
            "SUITE_POLLUTERS": self.polluters,
            "SUITE_HOW": self.how,
            "SUITE_RATE": str(self.rate),
            "SUITE_CLEANERS": self.cleaners,
            "SUITE_SETTERS": self.setters,
            "SUITE_ALWAYS": self.always,
        }
        return given if self.log is None else given | {"SUITE_LOG": str(self.log)}


def runs_of(log: Path) -> list[tuple[int, ...]]:
    """The runs that the suite logged: the cases that each began."""
    return [tuple(map(int, line.split())) for line in log.read_text().splitlines() if line]
