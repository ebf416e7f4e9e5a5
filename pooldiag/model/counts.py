"""A census: what a tensor holds, by count and by bit pattern."""

from dataclasses import dataclass

RESIDUES = 8  # places are distinguished by their index modulo this
PAGE_BYTES = 4096  # a piece of memory that is looked at as a whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """One value and its bits (`0x7fff0000`), as wide as the type."""

    value: float
    bits: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternCount:
    """How often one bit pattern occurs."""

    bits: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NanRuns:
    """Unbroken runs of NaN: how many, the length of the longest, the index of the first element of the first.

    `alignment` divides the index where each run begins and where each ends, the two ends of the tensor put aside;
    None if no run begins or ends within.
    """

    count: int = 0
    longest: int = 0
    first: int | None = None
    alignment: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NanMap:
    """Where NaN and infinities are: their counts in each stretch of `elements` elements, the last one maybe shorter."""

    elements: int
    nan: tuple[int, ...]
    inf: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a rule reads in a census; `confidence` in the rule's own words, `provenance`: where the rule is from."""

    rule: str
    text: str
    confidence: str
    provenance: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """Counts of one tensor. `minimum`, `maximum` and `absmax` are over finite values, None when there are none.

    `zero` includes `negative_zero`; `nan_patterns` are sorted by falling count. An index is that of the first
    element with the value; -0.0 counts as less than 0.0. `nan_residues` counts NaN by index modulo 8. `sha256` is
    empty where it was not asked for. `shape` is None where nothing says it.
    """

    path: str
    tensor: str | None = None
    format: str = "raw"
    dtype: str
    shape: tuple[int, ...] | None = None
    sha256: str
    n: int
    nan: int = 0
    positive_inf: int = 0
    negative_inf: int = 0
    zero: int = 0
    negative_zero: int = 0
    subnormal: int = 0
    minimum: float | None = None
    maximum: float | None = None
    absmax: float | None = None
    minimum_index: int | None = None
    maximum_index: int | None = None
    absmax_index: int | None = None
    first: tuple[Element, ...] = ()
    nan_patterns: tuple[PatternCount, ...] = ()
    nan_patterns_complete: bool = True  # False: there are more patterns than are kept
    nan_signalling: int = 0
    nan_residues: tuple[int, ...] = (0,) * RESIDUES
    nan_runs: NanRuns = NanRuns()
    dominant: PatternCount | None = None
    dominant_exact: bool = True  # False: `dominant` counts some of the elements, those that could be read again
    dominant_pages: int = 0  # pages, from the first element on, that hold nothing else
    blocks: NanMap | None = None
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()  # about the counting, not about the tensor

    @property
    def inf(self) -> int:
        """Infinities of either sign."""
        return self.positive_inf + self.negative_inf

    @property
    def has_rows(self) -> bool:
        """Whether it is known to have rows that can be distinguished."""
        return self.shape is not None and sum(size > 1 for size in self.shape) > 1

    @property
    def nan_at_even(self) -> int:
        """NaN at even indices."""
        return sum(self.nan_residues[::2])


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedCensus:
    """A census line that the target printed, `video: n=1024 nan=1024 inf=0 zero=0`."""

    name: str
    n: int
    nan: int
    inf: int = 0
    zero: int = 0
