"""A suite given as data: which cases spoil the victim, how that shows, and how often."""

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random

from pooldiag.model.cases import Case
from pooldiag.model.runs import Ending

OUTPUT_FILE = "out.bin"
SEGMENTATION_FAULT = 11
POISONED = "pool.cpp:5: device error 700: an illegal memory access was encountered"


def name(number: int) -> str:
    """The name of a case, counted from 1."""
    return f"case {number:04d}"


def names(*numbers: int) -> tuple[str, ...]:
    return tuple(name(number) for number in numbers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """What one process of the suite does: the lines of its report, what it leaves, and how it ends."""

    lines: tuple[str, ...]
    ending: Ending = Ending.EXITED
    exit_code: int | None = 0
    signal: int | None = None
    output: bytes | None = None
    kills: bool = False  # the process that started it, and itself


@cache
def numbers_in(words: str) -> frozenset[int]:
    return frozenset(int(word) for word in words.split(",") if word)


def every_time(_: int) -> bool:
    """Be unlucky in every run."""
    return True


def in_runs(*numbers: int) -> Callable[[int], bool]:
    """Be unlucky in these of the runs in which the victim could be red, counted from 1."""
    return frozenset(numbers).__contains__


def every_second(seed: int) -> Callable[[int], bool]:
    """Be unlucky in about every second run, drawn once and for all."""
    drawn = Random(seed)
    return in_runs(*(number for number in range(1, 400) if drawn.random() < 0.5))


@dataclass(slots=True, kw_only=True)
class PlayedSuite:
    """The fault, in the words of the zoo's `order_dependent`. Cases count from 1 in file order.

    The victim, the last case where none is given, is red once all cases of one of the sets of `polluters`
    (`3,7;9`) ran before it, and no cleaner after them; or, with `setters`, unless one of these did, and in another way
    after a case that `misleads`. It shows `how`:
    fail, crash, hang, quit (it leaves with exit code 0), exit (with 3, when all have passed), output (a NaN), kill
    (whoever started it), two-ways (crash; a failure where only some of the polluters ran). `unlucky` says of the
    number of the runs in which it could be red whether it is. `always` fail, `vacuous` ones assert nothing, `skipped`
    ones do not run. `crashes_at_end`: after the last case, whatever ran. `cures` are variables under which nothing is
    red, `breaks` those under which the victim is, `crashes` those under which it crashes. `keeps` names the variable
    of a folder in which the first run leaves a file (or in the home of nobody, where it is not set): the victim is red
    in each run that finds it there. From the `poisoner` on every case fails with one message, but those `untouched`.
    """

    cases: int = 13
    polluters: str = ""
    victim: int | None = None
    how: str = "fail"
    unlucky: Callable[[int], bool] = every_time
    cleaners: str = ""
    setters: str = ""
    misleads: str = ""
    always: str = ""
    vacuous: str = ""
    skipped: str = ""
    crashes_at_end: bool = False
    cures: frozenset[str] = frozenset()
    breaks: frozenset[str] = frozenset()
    crashes: frozenset[str] = frozenset()
    seconds: float = 0.01  # that a case takes
    keeps: str | None = None
    poisoner: int | None = None
    untouched: str = ""
    at_one_line: bool = True  # what fails from then on
    kept: set[str] = field(default_factory=set)  # the folders that hold the file
    chances: int = 0  # how often the victim could be red so far

    @property
    def listed(self) -> tuple[Case, ...]:
        """The cases in file order."""
        skipped = numbers_in(self.skipped)
        return tuple(
            Case(name=name(number), file="suite.cpp", line=number, skipped=number in skipped)
            for number in range(1, self.cases + 1)
        )

    def play(self, cases: Sequence[Case], variables: Mapping[str, str]) -> Play:
        """Run some cases, in their order, in one process with these variables."""
        home = variables.get(self.keeps, "/nobody") if self.keeps is not None else None
        process = _Process(suite=self, variables=variables, finds=home in self.kept)
        self.kept |= set() if home is None else {home}
        for case in cases:
            if (end := process.run(case.line or 0, case.name)) is not None:
                return end
        return process.end()


@dataclass(slots=True, kw_only=True)
class _Process:
    """One process of a suite: what ran in it so far."""

    suite: PlayedSuite
    variables: Mapping[str, str]
    finds: bool  # what an earlier run left
    lines: list[str] = field(default_factory=list)
    ran: set[int] = field(default_factory=set)  # since the last cleaner
    is_set: bool = False
    is_poisoned: bool = False
    failed: bool = False
    exit_code: int = 0
    output: bytes | None = None

    def run(self, number: int, title: str) -> Play | None:
        """Run a case; return how the process ends in it, if it does."""
        suite = self.suite
        self.lines.append(f"begin {title}")
        crashes = number == (suite.victim or suite.cases) and bool(suite.crashes & self.variables.keys())
        red = crashes or (number == (suite.victim or suite.cases) and self._is_red())
        if number == (suite.victim or suite.cases) and suite.how == "output":
            self.output = struct.pack("<f", float("nan") if red else 1.0) * 64
        end = self._end_of_victim("crash" if crashes else suite.how) if red else None
        if end is not None:
            return end
        in_part = number == (suite.victim or suite.cases) and suite.how == "two-ways" and self._is_spoilt(any)
        self.is_poisoned |= number == suite.poisoner
        if self.is_poisoned and number not in numbers_in(suite.untouched):
            self.failed = True
            self.lines.append(f"fail {POISONED if suite.at_one_line else POISONED.replace(':5:', f':{number}:')}")
        elif (red and suite.how == "fail") or number in numbers_in(suite.always) or in_part:
            self.failed = True
            line = number + 1000 * (red and not numbers_in(suite.misleads).isdisjoint(self.ran))
            self.lines.append(f"fail suite.cpp:{line}: is red")
        else:
            self.lines.append("skip" if number in numbers_in(suite.vacuous) else "pass 3")
        self.ran = set() if number in numbers_in(suite.cleaners) else self.ran
        self.ran.add(number)
        self.is_set |= number in numbers_in(suite.setters)
        return None

    def end(self) -> Play:
        """Come to the end of the last case."""
        if self.suite.crashes_at_end:
            return self._ended("end", ending=Ending.SIGNALLED, exit_code=None, signal=SEGMENTATION_FAULT)
        return self._ended("end", exit_code=self.exit_code or int(self.failed))

    def _is_red(self) -> bool:
        suite = self.suite
        if suite.cures & self.variables.keys():
            return False
        unset = bool(suite.setters) and not self.is_set
        if not (self._is_spoilt(all) or unset or self.finds or suite.breaks & self.variables.keys()):
            return False
        suite.chances += 1
        return suite.unlucky(suite.chances)

    def _is_spoilt(self, combined: Callable[[list[bool]], bool]) -> bool:
        """Tell whether all, or any, of the polluters of a set ran."""
        sets = [numbers_in(words) for words in self.suite.polluters.split(";") if words]
        return any(combined([one in self.ran for one in together]) for together in sets)

    def _end_of_victim(self, how: str) -> Play | None:
        match how:
            case "crash" | "two-ways":
                return self._ended(ending=Ending.SIGNALLED, exit_code=None, signal=SEGMENTATION_FAULT)
            case "hang":
                return self._ended(ending=Ending.TIMED_OUT, exit_code=None)
            case "kill":
                return self._ended(ending=Ending.LOST, exit_code=None, kills=True)
            case "quit":
                return self._ended()
            case "exit":
                self.exit_code = 3
        return None

    def _ended(
        self,
        *last: str,
        ending: Ending = Ending.EXITED,
        exit_code: int | None = 0,
        signal: int | None = None,
        kills: bool = False,
    ) -> Play:
        return Play(
            lines=(*self.lines, *last),
            ending=ending,
            exit_code=exit_code,
            signal=signal,
            output=self.output,
            kills=kills,
        )
