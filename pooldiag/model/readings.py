"""How a run reads: green, red or void, and the signatures that distinguish one red from another."""

import re
from dataclasses import dataclass, field
from enum import StrEnum


class Reading(StrEnum):
    """The reading of one outcome; of one run of a search, as it answers for the red in question."""

    GREEN = "green"
    RED = "red"
    OTHER = "other"  # of a search alone: the victim is red in another way, which is neither that red nor green
    VOID = "void"


class SignatureKind(StrEnum):
    """What kind of failure a signature is."""

    CRASH = "crash"
    FAILURE = "failure"
    COUNT = "count"  # fewer cases or outputs than asked for
    NAN = "nan"  # NaN or infinity in an output
    HANG = "hang"


class PlaceKind(StrEnum):
    """What the place of a signature says."""

    TEXT = "text"  # a source line, a normalised message, or how the process ended
    AMONG_CASES = "among cases"  # between which cases it ended: this depends on what was selected
    OUTPUT = "output"  # the output that it is in
    LACK = "lack"  # the output that is absent or short
    NOT_REACHED = "not reached"  # the case never began


_SOURCE_LINE = re.compile(r".*[^/]:\d+", re.DOTALL)
_FAR = re.compile(r"(?:/|(?:.*/)?\.\./).*?([^/]+/[^/]+)", re.DOTALL)  # with the folder that the file is in


@dataclass(frozen=True, slots=True, kw_only=True)
class RedPlace:
    """Where a red is, in words; `output` is the path or the printed name of the output that it is about.

    `shown` is a source line as a path from the project: it depends on where the diagnosis was started, and is not part
    of the identity.
    """

    text: str
    kind: PlaceKind = PlaceKind.TEXT
    output: str | None = None
    shown: str | None = field(default=None, compare=False)

    @property
    def is_line(self) -> bool:
        """Whether it is a line of a file, rather than words."""
        return self.kind is PlaceKind.TEXT and _SOURCE_LINE.fullmatch(self.text) is not None

    def __str__(self) -> str:
        """Say it: of a source line whose project is not known, the file and its folder; of a message its first line."""
        if self.shown is not None:
            return self.shown
        far = _FAR.fullmatch(self.text) if self.is_line else None
        return self.text.partition("\n")[0] if far is None else far[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Identity of a failure: two reds are the same red only if these are equal.

    `case` is None outside any case. The `message` is what was said of the failure when it was seen: what numbers stand
    in it may differ from run to run, so that it is not part of the identity.
    """

    kind: SignatureKind
    signal: str | None = None
    case: str | None = None
    place: RedPlace | None = None
    message: str | None = field(default=None, compare=False)  # its first lines, with their values

    def __str__(self) -> str:
        """Say the failure in one line."""
        what = {
            SignatureKind.CRASH: self.signal or "crash",
            SignatureKind.FAILURE: "failure",
            SignatureKind.COUNT: "incomplete",
            SignatureKind.NAN: "NaN or infinity",
            SignatureKind.HANG: "hang",
        }[self.kind]
        if self.kind is SignatureKind.NAN and self.case is None:
            return f"{what} in {self.place}"
        where = "outside any case" if self.case is None else f"in {self.case}"
        return f"{what} {where}" + (f" ({self.place})" if self.place is not None and self.place.text else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """Reds of several cases that say the same: the first one, and in running order those that follow it."""

    first: Signature
    followers: tuple[Signature, ...]  # the cases that follow it


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReading:
    """One outcome, read. A red has at least one signature, a void a reason; notes stand beside any of them."""

    run: str
    reading: Reading
    signatures: tuple[Signature, ...] = ()
    void_reason: str | None = None
    vacuous: tuple[str, ...] = ()  # cases that passed without an assertion
    notes: tuple[str, ...] = ()


class Sight(StrEnum):
    """One run as seen from one signature."""

    SAME_RED = "R"
    GREEN = "G"
    NEW_RED = "N"
    NOTHING = "-"  # void, or the victim was not reached or asserted nothing


COLOURS = {Sight.SAME_RED: "red", Sight.GREEN: "green"}
"""What the runs of a step show, in words."""


class StepKind(StrEnum):
    """How an arm's runs go from one thing to another."""

    FIRST = "first"  # the first run is unlike all later ones
    LONG = "long"  # a longer run of one colour, then of the other


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStep:
    """A place from which on an arm's runs show something else, which is no rate."""

    kind: StepKind
    at: int  # of the first run that shows it, from 0
    before: Sight
    after: Sight
