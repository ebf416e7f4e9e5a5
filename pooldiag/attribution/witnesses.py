"""Facts and hints: what speaks for a mechanism, or against some, beside the pattern of the arms.

A fact names a mechanism or excludes some. A hint orders the candidates, and establishes nothing. Each row says how it
is read, what for and against, and where it is known from. `--no-witness` leaves one out.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pooldiag.model.arms import Role
from pooldiag.model.attributions import Shows, Witness, WitnessKind
from pooldiag.model.outcomes import CaseResult
from pooldiag.model.readings import Sight, Signature, SignatureKind
from pooldiag.model.reports import ArmResult, Run

_STEADY_RUNS = 30
_GUARD_SIGNALS = frozenset({"SIGSEGV", "SIGBUS"})

_OUT_OF_MEMORY = re.compile(
    r"out of memory|bad_alloc|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY|hipErrorOutOfMemory"
    r"|[Cc]annot allocate memory|[Ff]ailed to allocate|memory allocation failed|RESOURCE_EXHAUSTED|MemoryError",
    re.IGNORECASE,
)
"""CUDA runtime and driver API (cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY), HIP, PyTorch, XLA, C++, POSIX."""

_COUNTERS = re.compile(
    r"\b(?:pool|cache|free.?list)\w*|\b(?:hits?|miss(?:es)?|reused?|reuses|cached|high.?water|in.?use|allocations)\b",
    re.IGNORECASE,
)
_DEVICES = {
    "host": re.compile(r"\b(?:cpu|host)\b", re.IGNORECASE),
    "device": re.compile(r"\b(?:gpu|cuda|hip|device|metal|vulkan|sycl|xpu)\b", re.IGNORECASE),
}

_CANONICAL = frozenset({"uniform-nan", "nvidia-nan"})
"""Rules of the census: one pattern everywhere, and it is that of NVIDIA's arithmetic."""

_POOLED = (
    *("cross-device-reuse", "stale-read", "stale-read-in-case", "stream-race", "class-slack"),
    *("two-owners", "use-after-release"),
)
"""What needs the counted pool to hand a block out a second time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What witnesses are read in: the red, and all arms with their runs as seen from it."""

    signature: Signature
    results: tuple[ArmResult, ...]

    def of(self, role: Role) -> ArmResult | None:
        """Return the runs of a role; None where there is no such arm."""
        return next((one for one in self.results if one.arm.role is role), None)

    def seen(self, role: Role, sight: Sight) -> Iterator[Run]:
        """Yield the runs of a role that look like this."""
        if (found := self.of(role)) is not None:
            yield from (run for run, seen in zip(found.runs, found.sights, strict=True) if seen is sight)

    def failures(self) -> Iterator[CaseResult]:
        """Yield how the victim ended in the red runs of the baseline."""
        for run in self.seen(Role.BASELINE, Sight.SAME_RED):
            yield from (one for one in run.outcome.report.results if one.case.name == self.signature.case)


_Read: TypeAlias = Callable[[Scene], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessRule:
    """How one witness is read, and what it says; `read` returns what was seen, or None."""

    id: str
    kind: WitnessKind
    read: _Read
    speaks_for: tuple[str, ...] = ()
    speaks_against: tuple[str, ...] = ()
    source: str
    needs: tuple[tuple[Role, Shows], ...] = ()


def out_of_memory(scene: Scene) -> str | None:
    """Return an allocator's own words for a lack of memory in the red; None where it says nothing like that."""
    texts = [one.message for one in scene.failures() if one.message]
    for run in scene.seen(Role.BASELINE, Sight.SAME_RED):
        texts += run.outcome.text_marks
    found = (match[0] for text in texts if (match := _OUT_OF_MEMORY.search(text)))
    return next((f"the red speaks of its memory: {words}" for words in found), None)


def _guard_finding(scene: Scene) -> str | None:
    """Return a crash that only the guard shows: an access just past a block."""
    for run in scene.seen(Role.GUARD, Sight.NEW_RED):
        for found in run.reading.signatures:
            if found.kind is SignatureKind.CRASH and found.signal in _GUARD_SIGNALS:
                return f"under guard, where a block ends at an unreadable page: {found}"
    return None


def _crash_under(role: Role) -> _Read:
    def read(scene: Scene) -> str | None:
        for run in scene.seen(role, Sight.NEW_RED):
            for found in run.reading.signatures:
                if found.kind is SignatureKind.CRASH and found.case == scene.signature.case:
                    return f"under {role} the victim crashes in another way: {found}"
        return None

    return read


def _no_hits(scene: Scene) -> str | None:
    reds = [run.outcome for run in scene.seen(Role.BASELINE, Sight.SAME_RED)]
    counted = [one.counters["hits"] for one in reds if "hits" in one.counters and one.completed.exit_code is not None]
    if counted and not any(counted):
        return f"hits = 0 in {len(counted)} red runs that came to their end: no block was handed out twice"
    return None


def _crash(scene: Scene) -> str | None:
    return f"it is a crash ({scene.signature.signal})" if scene.signature.signal in _GUARD_SIGNALS else None


def _speaks_of_the_pool(scene: Scene) -> str | None:
    texts = [one.message for one in scene.failures() if one.message]
    found = (match[0] for text in (scene.signature.case or "", *texts) if (match := _COUNTERS.search(text)))
    return next((f"the failed check, or the case's name, speaks of the pool: {words!r}" for words in found), None)


def _device_in(name: str) -> str | None:
    found = [device for device, pattern in _DEVICES.items() if pattern.search(name)]
    return found[0] if len(found) == 1 else None


def _devices(scene: Scene) -> str | None:
    """Return that cases before the victim name another device than the victim does."""
    victim = scene.signature.case
    wanted = None if victim is None else _device_in(victim)
    if wanted is None:
        return None
    for run in scene.seen(Role.BASELINE, Sight.SAME_RED):
        for one in run.outcome.report.results:
            if one.case.name == victim:
                break
            if _device_in(one.case.name) not in {None, wanted}:
                return f"the victim names the {wanted}, and {one.case.name!r} before it does not"
    return None


def _steady(scene: Scene) -> str | None:
    shown = (Sight.SAME_RED, Sight.GREEN)
    sights = [seen for one in scene.results if one.arm.role is Role.BASELINE for seen in one.sights if seen in shown]
    if len(sights) >= _STEADY_RUNS and set(sights) == {Sight.SAME_RED}:
        return f"red in {len(sights)} of {len(sights)} runs of the baseline"
    return None


def _exact_green(scene: Scene) -> str | None:
    exact = scene.of(Role.EXACT)
    if exact is None or set(exact.sights) != {Sight.GREEN}:
        return None
    return "green without size rounding: only sizes that are rounded to one class meet"


def _canonical_nan(scene: Scene) -> str | None:
    """Return that every NaN of the outputs has the one pattern that arithmetic makes: none was read as it lay there."""
    found = {
        finding.rule
        for run in scene.seen(Role.BASELINE, Sight.SAME_RED)
        for output in run.outcome.outputs
        if output.census is not None
        for finding in output.census.findings
    }
    return "every NaN has the one pattern that arithmetic makes" if found >= _CANONICAL else None


_FACT, _HINT = WitnessKind.FACT, WitnessKind.HINT

WITNESSES: tuple[WitnessRule, ...] = (
    WitnessRule(
        id="guard",
        kind=_FACT,
        read=_guard_finding,
        speaks_for=("access-past-end",),
        needs=((Role.PAD, Shows.GONE),),
        source="mprotect(2): an access to the page behind a block faults; with 64 bytes more behind it the red is gone",
    ),
    WitnessRule(
        id="no-hits",
        kind=_FACT,
        read=_no_hits,
        speaks_against=_POOLED,
        source="the pool's own counters",
    ),
    WitnessRule(
        id="out-of-memory",
        kind=_HINT,
        read=out_of_memory,
        speaks_for=("memory-kept",),
        source="what allocators print: CUDA, HIP, PyTorch, XLA, C++",
    ),
    WitnessRule(
        id="crash",
        kind=_HINT,
        read=_crash,
        speaks_for=("cross-device-reuse", "use-after-release"),
        speaks_against=("stale-read", "stale-read-in-case"),
        source="a stale number seldom crashes; memory of another device does, and memory that was given back",
    ),
    WitnessRule(
        id="crash-under-bypass",
        kind=_HINT,
        read=_crash_under(Role.BYPASS),
        speaks_for=("use-after-release",),
        source="without the pool released memory may be unreadable: the same access, seen",
    ),
    WitnessRule(
        id="crash-under-quarantine",
        kind=_HINT,
        read=_crash_under(Role.QUARANTINE),
        speaks_for=("use-after-release",),
        source="a quarantine may make released memory unreadable: the same access, seen",
    ),
    WitnessRule(
        id="speaks-of-the-pool",
        kind=_HINT,
        read=_speaks_of_the_pool,
        speaks_for=("pool-state",),
        source="the words of the failed check",
    ),
    WitnessRule(
        id="devices-by-name",
        kind=_HINT,
        read=_devices,
        speaks_for=("cross-device-reuse",),
        source="the names of the cases",
    ),
    WitnessRule(
        id="steady",
        kind=_HINT,
        read=_steady,
        speaks_against=("stream-race", "timing-race"),
        source="a race is seldom so steady",
    ),
    WitnessRule(
        id="exact-green",
        kind=_HINT,
        read=_exact_green,
        speaks_against=("access-past-end",),
        source="an access past a block needs no rounding; a read of the rounding does, and two sizes that meet",
    ),
    WitnessRule(
        id="canonical-nan",
        kind=_HINT,
        read=_canonical_nan,
        speaks_against=("stale-read", "stale-read-in-case"),
        source="the CUDA Math API's canonical NaN: one pattern everywhere is computed, not read",
    ),
)

WITNESS_IDS = tuple(rule.id for rule in WITNESSES)


def read_witnesses(scene: Scene | None, *, without: Collection[str] = ()) -> tuple[Witness, ...]:
    """Return what speaks beside the arms, facts first."""
    if scene is None:
        return ()
    found = ((rule, rule.read(scene)) for rule in WITNESSES if rule.id not in without)
    return tuple(_witness(rule, text) for rule, text in found if text is not None)


def _witness(rule: WitnessRule, text: str) -> Witness:
    return Witness(
        id=rule.id,
        kind=rule.kind,
        text=text,
        speaks_for=rule.speaks_for,
        speaks_against=rule.speaks_against,
        source=rule.source,
        needs=rule.needs,
    )


def scene_of(signature: Signature | None, results: Sequence[ArmResult]) -> Scene | None:
    """Return the scene of a red; None where nothing is red."""
    return None if signature is None else Scene(signature=signature, results=tuple(results))
