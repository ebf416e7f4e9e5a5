"""A census: what a tensor holds, by count and by bit pattern."""

from dataclasses import dataclass


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
    """Unbroken runs of NaN: how many, the length of the longest, the index of the first element of the first."""

    count: int = 0
    longest: int = 0
    first: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a rule reads in a census; `confidence` in the rule's own words."""

    rule: str
    text: str
    confidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    """Counts of one tensor. `minimum`, `maximum` and `absmax` are over finite values, None when there are none.

    `zero` includes `negative_zero`; `nan_patterns` are sorted by falling count.
    """

    path: str
    tensor: str | None = None
    format: str = "raw"
    dtype: str
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
    first: tuple[Element, ...] = ()
    nan_patterns: tuple[PatternCount, ...] = ()
    nan_runs: NanRuns = NanRuns()
    dominant: PatternCount | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def inf(self) -> int:
        """Infinities of either sign."""
        return self.positive_inf + self.negative_inf


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedCensus:
    """A census line that the target printed, `video: n=1024 nan=1024 inf=0 zero=0`."""

    name: str
    n: int
    nan: int
    inf: int = 0
    zero: int = 0
