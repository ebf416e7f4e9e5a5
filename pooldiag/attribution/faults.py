"""Variants of faults: what each arm shows if it is the cause, for all that is known of how faults differ.

One row is one variant, reasoned from how allocators, fills and waits work; those of the zoo's binaries are measured.
From these rows come what is believed beforehand of patterns of arms, which mechanisms a pattern leaves, and the test
that no answer's words are false of a variant that shows such arms.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict, Unpack

from pooldiag.model.arms import Role
from pooldiag.model.attributions import Shows

COLUMNS = (
    Role.BYPASS,
    Role.EXACT,
    Role.PER_CASE,
    Role.POISON_N,
    Role.POISON_0,
    Role.SERIAL,
    Role.ISOLATE,
    Role.QUARANTINE,
    Role.FRESH_STATE,
)
"""What the letters of a row are about, in this order."""

_LETTERS: Mapping[str, tuple[Shows, ...]] = {
    "R": (Shows.THERE,),
    "G": (Shows.GONE,),
    "RG": (Shows.THERE, Shows.GONE),
}


class FaultKind(StrEnum):
    """What is wrong in a target: kinds that arms tell from each other, or cannot."""

    STALE_READ = "stale-read"
    STALE_READ_IN_CASE = "stale-read-in-case"
    STALE_READ_OF_FIXTURE = "stale-read-of-fixture"
    CLASS_SLACK = "class-slack"
    ACCESS_PAST_END = "access-past-end"
    STREAM_RACE = "stream-race"
    TIMING_RACE = "timing-race"
    COHERENCE = "coherence"
    TWO_OWNERS = "two-owners"
    CROSS_DEVICE_REUSE = "cross-device-reuse"
    USE_IN_CASE = "use-after-release-in-case"
    USE_AFTER_RELEASE = "use-after-release"
    MEMORY_KEPT = "memory-kept"
    MEMORY_IN_FLIGHT = "memory-in-flight"
    PREALLOCATION = "preallocation"
    POOL_STATE = "pool-state"
    CASE_STATE = "case-state"
    OTHER_POOL = "other-pool"
    LEFTOVER_THREAD = "leftover-thread"
    CONCURRENT_CASE = "concurrent-case"
    COLLECTION = "collection"
    STATE_OUTSIDE = "state-outside"
    INDEPENDENT = "independent"
    TWO_FAULTS = "two-faults"


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultVariant:
    """One way in which a kind of fault shows; `letters` are one a column: R there, G gone, RG either.

    It is possible where the properties of the arms do not speak against it: `apart` is False where the bypass has to
    give addresses out again, `bypass_waits` True where it has to wait, `plain_fills` False where a fill is not done on
    hand-out alone, or not before the first use. `placebo`: whether the red stays under a variable that nobody reads.
    `hidden`: the pool, or luck, hides it from the baseline. `excluded_by` are properties of arms that speak against it.
    """

    kind: FaultKind
    note: str = ""
    letters: str
    apart: bool = True
    bypass_waits: bool = False
    out_of_memory: bool = False
    plain_fills: bool = True
    loads_alike: bool = True
    placebo: bool = True
    hidden: bool = False
    excluded_by: tuple[tuple[Role, str, str], ...] = ()

    def allows(self, role: Role) -> tuple[Shows, ...]:
        """Return what an arm may show if this is the cause; all of a role that has no column."""
        if role is Role.BASELINE:
            return _LETTERS["G" if self.hidden else "R"]
        if role is Role.PLACEBO:
            return _LETTERS["R" if self.placebo else "RG"]
        if role is Role.PAD:  # 64 bytes more heal an access past the end, and may move a block to another class
            return _LETTERS["RG" if self.allows(Role.BYPASS) != _LETTERS["R"] else "R"]
        return _LETTERS[self.letters.split()[COLUMNS.index(role)]] if role in COLUMNS else tuple(Shows)

    def is_possible(
        self, properties: Collection[tuple[Role, str, str]], *, plain_fills: bool, out_of_memory: bool
    ) -> bool:
        """Tell whether it can be the cause, by what is known of the arms and of the red itself."""
        excluded = (
            not self.apart and (Role.BYPASS, "addresses", "apart") in properties,
            self.bypass_waits and (Role.BYPASS, "waits", "no") in properties,
            any(one in properties for one in self.excluded_by),
            not self.plain_fills and plain_fills,
            self.out_of_memory != out_of_memory,
        )
        return not any(excluded)


def _variants(kind: FaultKind, *rows: tuple[str, str] | FaultVariant) -> tuple[FaultVariant, ...]:
    """Return the rows of one kind: a pair is a note and the letters."""
    return tuple(
        row if isinstance(row, FaultVariant) else FaultVariant(kind=kind, note=row[0], letters=row[1]) for row in rows
    )


class _Special(TypedDict, total=False):
    apart: bool
    bypass_waits: bool
    out_of_memory: bool
    plain_fills: bool
    loads_alike: bool
    placebo: bool


def _with(kind: FaultKind, note: str, letters: str, **also: Unpack[_Special]) -> FaultVariant:
    """Return a row with what is special about it."""
    return FaultVariant(kind=kind, note=note, letters=letters, **also)


_K = FaultKind
_FILL_ON_RELEASE = "the fill is on release, too"

FAULTS: tuple[FaultVariant, ...] = (
    *_variants(
        _K.CROSS_DEVICE_REUSE,
        ("", "G RG G G R R G G R"),
        ("the fill of a foreign block heals it", "G RG G G RG R G G R"),
        _with(
            _K.CROSS_DEVICE_REUSE,
            "the check is isfinite; the fill runs on another stream, and overwrites data or a padding times zero",
            "G RG G R G R G G R",
            plain_fills=False,
        ),
    ),
    *_variants(
        _K.STALE_READ,
        ("", "G RG G R G R G G R"),
        ("fresh memory holds junk, too", "R RG RG R G R RG R R"),
        ("a maximum, ReLU or mask swallows the NaN", "G RG G G G R G G R"),
        _with(
            _K.STALE_READ,
            "the stale number is a size, and memory runs out; quarantine runs out by itself",
            "G RG G R G R G RG R",
            out_of_memory=True,
        ),
        (
            "other addresses, and the same physical page with its bytes; the fill reaches host memory only",
            "R R RG R R R G G R",
        ),
    ),
    *_variants(
        _K.STALE_READ_IN_CASE,
        ("", "G RG R R G R R G R"),
        ("fresh memory holds junk, too", "R RG R R G R R R R"),
        ("a maximum, ReLU or mask swallows the NaN", "G RG R G G R R G R"),
    ),
    *_variants(_K.STALE_READ_OF_FIXTURE, ("the block is from a warm-up, or shared by the suite", "G R G R G R R G R")),
    *_variants(
        _K.STREAM_RACE,
        ("", "G RG RG G RG G RG G RG"),
        _with(_K.STREAM_RACE, "the bypass gets the address back", "R RG RG R RG G RG G RG", apart=False),
    ),
    *_variants(
        _K.TIMING_RACE,
        _with(_K.TIMING_RACE, "the bypass waits", "G R R G RG G RG R RG", bypass_waits=True),
        ("", "R R R R RG G RG R RG"),
        ("an upload is not waited for: recycled bytes are NaN, fresh ones zero", "G R G R G G G G RG"),
        ("bypass and quarantine ask the system for memory, and are slower", "G RG RG G RG G RG G RG"),
    ),
    *_variants(_K.COHERENCE, ("serial writes caches back; all launches are in one queue", "R R R R R G R R R")),
    *_variants(
        _K.CLASS_SLACK,
        FaultVariant(
            kind=_K.CLASS_SLACK,
            note="the fill reaches the class",
            letters="G G G R G R G G R",
            excluded_by=((Role.POISON_N, "fills", "requested"),),
        ),
        FaultVariant(
            kind=_K.CLASS_SLACK,
            note="the fill reaches the requested size",
            letters="G G G G R R G G R",
            excluded_by=((Role.POISON_N, "fills", "class"), (Role.POISON_N, "fills", "block")),
        ),
        FaultVariant(
            kind=_K.CLASS_SLACK,
            note="exact still rounds to 32 or 256 bytes",
            letters="G R G R G R G G R",
            excluded_by=((Role.EXACT, "rounds_to", "1"),),
        ),
    ),
    *_variants(
        _K.ACCESS_PAST_END,
        ("across cases", "G R G G R R G RG R"),
        ("in one case", "G R R G R R R RG R"),
        ("across cases; the fill reaches the raw block, or the next block is filled", "G R G R G R G RG R"),
        ("in one case; the fill reaches the raw block, or the next block is filled", "G R R R G R R RG R"),
    ),
    *_variants(
        _K.TWO_OWNERS,
        ("across cases", "G RG G G RG R G G R"),
        ("in one case", "G RG R G RG R R G R"),
        ("a free list without a lock, host threads; serial lines them up", "G RG RG G RG RG RG G RG"),
        _with(
            _K.TWO_OWNERS,
            "across cases; the fill runs on another stream, and overwrites data",
            "G RG G R G R G G R",
            plain_fills=False,
        ),
    ),
    *_variants(
        _K.USE_IN_CASE,
        ("", "G RG R G R R R G R"),
        ("zeros heal it", "G RG R G G R R G R"),
        _with(_K.USE_IN_CASE, "the bypass gets the address back", "R RG R R R R R G R", apart=False),
        _with(_K.USE_IN_CASE, _FILL_ON_RELEASE, "G RG R R G R R G R", plain_fills=False),
    ),
    *_variants(
        _K.USE_AFTER_RELEASE,
        ("", "G RG RG G RG R G G R"),
        _with(_K.USE_AFTER_RELEASE, "the bypass gets the address back", "R RG RG R RG R G G R", apart=False),
        _with(_K.USE_AFTER_RELEASE, _FILL_ON_RELEASE, "G RG G R G R G G R", plain_fills=False),
    ),
    *_variants(
        _K.MEMORY_KEPT,
        _with(_K.MEMORY_KEPT, "across cases", "G RG G G R R G R R", out_of_memory=True),
        _with(_K.MEMORY_KEPT, "in one case", "G RG R G R R R R R", out_of_memory=True),
    ),
    *_variants(
        _K.MEMORY_IN_FLIGHT,
        _with(
            _K.MEMORY_IN_FLIGHT,
            "the host runs ahead, releases wait for events",
            "G RG RG G RG G RG R R",
            out_of_memory=True,
        ),
    ),
    *_variants(
        _K.PREALLOCATION,
        _with(
            _K.PREALLOCATION,
            "an arena leaves nothing to others; no block was released",
            "G RG RG G R R RG R R",
            out_of_memory=True,
        ),
    ),
    *_variants(_K.POOL_STATE, ("", "G RG G G R R G RG R"), ("in one case", "G RG R G R R R RG R")),
    *_variants(_K.CASE_STATE, ("", "R R R R R R G R R"), ("on disk, in the run's folder", "R R R R R R G R RG")),
    *_variants(
        _K.OTHER_POOL,
        ("a pinned block is used again while a copy is under way; serial does not reach copies", "R R R R R R G R R"),
        ("a pinned block is used again while a copy is under way; serial reaches copies", "R R R R R G G R RG"),
    ),
    *_variants(_K.LEFTOVER_THREAD, ("a thread of an earlier case still writes", "R R R R R R G R R")),
    *_variants(_K.CONCURRENT_CASE, ("a case that runs beside it", "R R R R R R G R R")),
    *_variants(
        _K.COLLECTION,
        _with(_K.COLLECTION, "the import of another file; no earlier case", "R R R R R R G R R", loads_alike=False),
    ),
    *_variants(
        _K.STATE_OUTSIDE,
        ("", "R R R R R R R R G"),
        ("a kernel cache that changes times as well", "R R R R R RG R R G"),
    ),
    *_variants(
        _K.INDEPENDENT,
        ("", "R R R R R R R R R"),
        _with(_K.INDEPENDENT, "bytes of the host that any variable moves", "RG RG RG RG RG RG RG RG RG", placebo=False),
    ),
    *_variants(_K.TWO_FAULTS, ("state between cases, and a read before a write below the pool", "R R R R G R G R R")),
)


HIDDEN_FAULTS: tuple[FaultVariant, ...] = (
    FaultVariant(kind=_K.STALE_READ, letters="G G G R RG G G G G", hidden=True),
    FaultVariant(kind=_K.STALE_READ_IN_CASE, letters="G G G R RG G G G G", hidden=True),
    FaultVariant(kind=_K.USE_AFTER_RELEASE, letters="R G G R RG G G RG G", hidden=True),
    FaultVariant(kind=_K.USE_AFTER_RELEASE, note="memory stays readable", letters="G G G RG RG G G R G", hidden=True),
    FaultVariant(kind=_K.ACCESS_PAST_END, letters="R RG G R G G G RG G", hidden=True),
    FaultVariant(kind=_K.POOL_STATE, note="a test of the pool itself", letters="R RG RG R G G G RG G", hidden=True),
)
"""What is green as it is, and red without the pool or under a fill."""

MECHANISM_OF: Mapping[FaultKind, str] = {
    **{kind: str(kind) for kind in FaultKind},
    _K.USE_IN_CASE: "use-after-release",
    _K.STALE_READ_OF_FIXTURE: "stale-read-in-case",
    _K.MEMORY_IN_FLIGHT: "memory-kept",
    _K.PREALLOCATION: "memory-kept",
    _K.COHERENCE: "timing-race",
    _K.OTHER_POOL: "case-state",
    _K.LEFTOVER_THREAD: "case-state",
    _K.CONCURRENT_CASE: "case-state",
    _K.COLLECTION: "case-state",
    _K.STATE_OUTSIDE: "case-state",
    _K.TWO_FAULTS: "case-state",
}
"""The mechanism that a kind is listed under where it is a candidate."""


def mechanisms_of(faults: Collection[FaultVariant]) -> frozenset[str]:
    """Return the ids of the mechanisms of these variants."""
    return frozenset(MECHANISM_OF[fault.kind] for fault in faults)
