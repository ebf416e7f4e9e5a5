"""A comparison: where two tensors that should be the same differ, by bits and by value."""

from dataclasses import dataclass
from enum import StrEnum

from pooldiag.model.counts import Element, Finding


class Sameness(StrEnum):
    """How alike two tensors are: the most that holds."""

    BITWISE = "bitwise-equal"
    NAN_BITS = "equal-but-for-nan-bits"  # NaN at the same places, some with other bits
    VALUES = "equal-in-value"  # 0.0 for -0.0, or another element type, beside other NaN bits
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two tensors. `shape` is None where the file does not say it."""

    path: str
    tensor: str | None = None
    dtype: str
    shape: tuple[int, ...] | None = None
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The elements of both sides at one index."""

    index: int
    here: Element
    there: Element


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestError:
    """The largest of all errors of one kind, and the first place that has it; of integers, an absolute one is exact."""

    error: float
    at: Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class NanPlaces:
    """Where NaN are, of the elements compared: counts, and the index of the first one on one side only."""

    both: int = 0
    here_only: int = 0
    there_only: int = 0
    first_here_only: int | None = None
    first_there_only: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A tensor, `here`, and its reference, `there`, element by element over the `n` that both have.

    Values differ (`value_different`) where one side is NaN and the other is not, and where two numbers are not equal;
    0.0 equals -0.0. Bits are compared (`bit_different`, of these `nan_bits_different` in NaN of both sides and
    `zero_sign_different` in zeros of both) if both sides have one element type, else those three are None.

    The absolute error is over elements that are finite on both sides, in f64 (inf beyond its range). The relative one
    is that by the magnitude of the reference, where this is not 0. The error in units in the last place counts the
    steps from one element to the other on the line of all numbers of their type, with the infinities at its ends; it is
    None for integers and between two types. All three are None where there is nothing to report.
    """

    here: Side
    there: Side
    n: int
    value_different: int = 0
    bit_different: int | None = 0
    nan_bits_different: int | None = 0
    zero_sign_different: int | None = 0
    first: Difference | None = None  # where values differ
    first_bits: Difference | None = None  # where bits differ
    nan: NanPlaces = NanPlaces()
    infinity_different: int = 0  # an infinity on one side at least, and another number on the other
    zero_here: int = 0  # 0 here, another value or NaN there
    zero_there: int = 0  # 0 there, another value or NaN here
    absolute: LargestError | None = None
    relative: LargestError | None = None
    ulps: LargestError | None = None
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()  # about the comparing, not about the tensors

    @property
    def sameness(self) -> Sameness:
        """How alike the two are; a shape that differs over equal elements does not count."""
        if self.value_different or self.here.n != self.there.n:
            return Sameness.DIFFERENT
        if self.bit_different is None:
            return Sameness.VALUES
        if not self.bit_different:
            return Sameness.BITWISE
        return Sameness.NAN_BITS if self.bit_different == self.nan_bits_different else Sameness.VALUES

    @property
    def shapes_differ(self) -> bool:
        """Whether both shapes are known, and are not the same."""
        return None not in {self.here.shape, self.there.shape} and self.here.shape != self.there.shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Names that stand on both sides, as (here, there), and names that have no counterpart."""

    pairs: tuple[tuple[str, str], ...] = ()
    here_only: tuple[str, ...] = ()
    there_only: tuple[str, ...] = ()
