"""The report of one `census`: what `--json` prints and every renderer reads."""

from dataclasses import dataclass
from typing import Literal

from pooldiag.model.comparisons import Comparison, Sameness
from pooldiag.model.counts import Census

STDIN = "-"  # the path of standard input


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedTensor:
    """One tensor that was counted and, if there is a reference, compared with it."""

    census: Census
    comparison: Comparison | None = None

    @property
    def is_finite(self) -> bool:
        """Whether it holds no NaN and no infinity."""
        return not self.census.nan and not self.census.inf

    @property
    def differs(self) -> bool:
        """Whether it is not what the reference is, by value: other NaN bits, or -0.0 for 0.0, are not enough."""
        return self.comparison is not None and (
            self.comparison.sameness is Sameness.DIFFERENT or self.comparison.shapes_differ
        )

    @property
    def is_clean(self) -> bool:
        """Whether there is nothing to report of it but its counts."""
        same = self.comparison is None or self.comparison.sameness is Sameness.BITWISE
        return self.is_finite and not self.differs and same and not self.census.findings and not self.census.notes


@dataclass(frozen=True, slots=True, kw_only=True)
class CensusProblem:
    """What could not be counted, in one line, and what to do about it."""

    path: str
    problem: str
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeGuess:
    """How well the bytes of a file fit an element type.

    `bits_per_byte` is how many bits each byte takes to write down when it is read so: 8 for random bytes, less the
    better the type fits. `doubts` are what speaks against it.
    """

    dtype: str
    byte_order: Literal["little", "big"] | None  # None where elements have one byte
    bits_per_byte: float
    nan: int
    n: int
    minimum: float | None
    maximum: float | None
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeGuesses:
    """The types that were tried on one file, the best first; `fitting` are those that cannot be distinguished, or none.

    `why` says in a sentence what the ranking shows, and no more.
    """

    path: str
    tensor: str | None = None
    sample_bytes: int
    file_bytes: int | None
    tried: tuple[TypeGuess, ...]
    fitting: tuple[TypeGuess, ...]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CensusReport:
    """What `census` counted, in the order that it was counted in.

    `skipped` are files of directories that hold no tensors as far as is known; `here_only` and `there_only` are files
    and tensors that have no counterpart in the `reference`. `partial`: it was interrupted.
    """

    files: tuple[CountedTensor, ...] = ()
    problems: tuple[CensusProblem, ...] = ()
    guesses: tuple[TypeGuesses, ...] = ()
    skipped: int = 0
    reference: str | None = None
    here_only: tuple[str, ...] = ()
    there_only: tuple[str, ...] = ()
    watched: str | None = None
    notes: tuple[str, ...] = ()
    next: str | None = None
    next_purpose: str | None = None
    partial: bool = False

    @property
    def first_nan(self) -> Census | None:
        """The first tensor that holds a NaN."""
        return next((one.census for one in self.files if one.census.nan), None)

    @property
    def first_not_finite(self) -> Census | None:
        """The first tensor that holds a NaN or an infinity."""
        return next((one.census for one in self.files if not one.is_finite), None)

    @property
    def differs(self) -> bool:
        """Whether something is not as the reference has it, or stands on one side only."""
        return bool(self.here_only or self.there_only) or any(one.differs for one in self.files)
