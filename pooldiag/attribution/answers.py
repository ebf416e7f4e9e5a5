"""What arms answer: a condition over what they show, and words that are true of every fault that shows such arms.

A condition that is changed must still hold for every row of `faults.FAULTS`: a test tries each of them under every
subset of arms that acted.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from pooldiag.attribution.faults import FaultKind
from pooldiag.model.arms import Role
from pooldiag.model.attributions import ArmsAnswer, Shows, Witness

Pattern = Mapping[Role, Shows]
"""What each role shows; one that did not act, or was not asked, is not in it."""

PAIRS_NEEDED = 3
"""So often must fresh state be green, and its second use red: by chance a flake at 50 % shows it once in 64 times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What is known of the arms and of the red, beside what the runs show.

    `plain_fills`: the arms whose fill is done on hand-out alone, and before the first use. `properties` are those of
    all arms, by role and name. `loads_alike`: the victim alone loads what the whole
    suite loads. `pairs`: how often the second use of a state folder was red after a green first one, and never green.
    `begins_green`: the very first run was green, and the baseline has been red since then: it may have left something.
    """

    plain_fills: frozenset[Role] = frozenset()
    properties: frozenset[tuple[Role, str, str]] = frozenset()
    loads_alike: bool = True
    out_of_memory: bool = False
    pairs: int = 0
    begins_green: bool = False
    witnesses: tuple[Witness, ...] = ()


NOTHING_KNOWN = Circumstances()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerRule:
    """When an answer is given: one of each of `clauses` has to be shown, and what the flags ask for has to be known.

    `if_any` are roles that must show this where they can be had at all. `all_there`: no arm changes the red.
    `from_a_case`: another case leaves what the victim finds, so that a bisection names it. `narrowed_by` are roles that
    say more within the answer.
    """

    answer: ArmsAnswer
    covers: frozenset[FaultKind]
    clauses: tuple[tuple[tuple[Role, Shows], ...], ...] = ()
    if_any: tuple[tuple[Role, Shows], ...] = ()
    plain_fills: frozenset[Role] = frozenset()
    loads_alike: bool = False
    has_memory: bool = False
    pairs: bool = False
    all_there: bool = False
    from_a_case: bool = False
    narrowed_by: tuple[Role, ...] = ()

    def is_possible(self, known: Circumstances) -> bool:
        """Tell whether what is known beside the runs allows this answer; pairs can still be made."""
        lacks = (
            not self.plain_fills <= known.plain_fills,
            self.loads_alike and not known.loads_alike,
            self.has_memory and known.out_of_memory,
            self.all_there and known.begins_green,
        )
        return not any(lacks)

    def wanted(self, roles: Collection[Role]) -> Iterator[Pattern]:
        """Yield each pattern that gives this answer, over the roles that it needs; none where one is not to be had."""
        if self.all_there:
            if {Role.BYPASS, Role.ISOLATE} <= set(roles):
                yield dict.fromkeys(roles, Shows.THERE)
            return
        also = [(role, shows) for role, shows in self.if_any if role in roles]
        for one in product(*self.clauses):
            if all(role in roles for role, _ in one):
                yield dict((*one, *also, *(((Role.PLACEBO, Shows.THERE),) if Role.PLACEBO in roles else ())))


def _there(*roles: Role) -> tuple[tuple[tuple[Role, Shows], ...], ...]:
    return tuple(((role, Shows.THERE),) for role in roles)


def _gone(*roles: Role) -> tuple[tuple[tuple[Role, Shows], ...], ...]:
    """Return a clause a role."""
    return tuple(((role, Shows.GONE),) for role in roles)


_K = FaultKind

ANSWERS: tuple[AnswerRule, ...] = (
    AnswerRule(
        answer=ArmsAnswer(
            id="unwritten-read",
            title="unwritten bytes of the pool are read",
            meaning="bytes of the pool that nobody wrote are read, in a block or past its end",
            advice="Find the buffer that is read before its first write: poison-n shows the value that it reads.",
        ),
        covers=frozenset(
            {_K.STALE_READ, _K.STALE_READ_IN_CASE, _K.STALE_READ_OF_FIXTURE, _K.ACCESS_PAST_END, _K.CLASS_SLACK}
        ),
        clauses=(*_gone(Role.BYPASS, Role.POISON_0), *_there(Role.POISON_N, Role.SERIAL)),
        plain_fills=frozenset({Role.POISON_N, Role.POISON_0}),
        narrowed_by=(Role.ISOLATE,),
    ),
    AnswerRule(
        answer=ArmsAnswer(
            id="race",
            title="a race that waiting removes",
            meaning="it takes launches that do not wait: a race of launches, or of host threads that the waits line up,"
            " or caches that are not written back",
            advice="Look for a missing wait between launches, copies and the host, and for a block that is handed out"
            " while work on another stream still uses it.",
        ),
        covers=frozenset({_K.TIMING_RACE, _K.STREAM_RACE, _K.TWO_OWNERS, _K.OTHER_POOL, _K.COHERENCE}),
        clauses=(*_gone(Role.SERIAL), *_there(Role.FRESH_STATE)),
        has_memory=True,
    ),
    AnswerRule(
        answer=ArmsAnswer(
            id="carried-by-pool",
            title="the pool carries something from case to case",
            meaning="the pool carries something from an earlier case into this one, other than unwritten bytes that a"
            " NaN fill shows",
            advice="Bisect the order: it names the case that leaves it. Then look at the key of the free list.",
        ),
        covers=frozenset(
            {
                *(_K.CROSS_DEVICE_REUSE, _K.ACCESS_PAST_END, _K.CLASS_SLACK, _K.TWO_OWNERS, _K.USE_AFTER_RELEASE),
                *(_K.MEMORY_KEPT, _K.POOL_STATE, _K.PREALLOCATION, _K.STALE_READ),
            }
        ),
        clauses=(*_gone(Role.ISOLATE, Role.BYPASS, Role.POISON_N), *_there(Role.SERIAL)),
        plain_fills=frozenset({Role.POISON_N}),
        loads_alike=True,
        from_a_case=True,
    ),
    AnswerRule(
        answer=ArmsAnswer(
            id="reused-in-case",
            title="the pool hands out again within one case",
            meaning="within one case, and without unwritten bytes that a NaN fill shows, a block is used after its"
            " release, by two owners or past its end, or the pool's own state is at fault",
            advice="Look for a buffer of the victim that is used after its release, or for two owners of one block.",
        ),
        covers=frozenset({_K.USE_IN_CASE, _K.TWO_OWNERS, _K.ACCESS_PAST_END, _K.POOL_STATE, _K.STALE_READ_IN_CASE}),
        clauses=(
            ((Role.BYPASS, Shows.GONE), (Role.QUARANTINE, Shows.GONE)),
            *_there(Role.ISOLATE, Role.SERIAL),
            *_gone(Role.POISON_N),
        ),
        plain_fills=frozenset({Role.POISON_N}),
        has_memory=True,
    ),
    AnswerRule(
        answer=ArmsAnswer(
            id="carried-outside",
            title="carried from another case, outside the pool's arms",
            meaning="it comes from another case, and not by what these arms reach: state, another pool, or a thread or"
            " copy that still runs",
            advice="Look for globals, files and settings that the victim shares with other cases, and for work that is"
            " still under way when a case ends.",
        ),
        covers=frozenset({_K.CASE_STATE, _K.OTHER_POOL, _K.LEFTOVER_THREAD, _K.CONCURRENT_CASE}),
        clauses=(
            *_gone(Role.ISOLATE),
            *_there(Role.BYPASS, Role.SERIAL, Role.POISON_0, Role.FRESH_STATE, Role.QUARANTINE),
        ),
        loads_alike=True,
        from_a_case=True,
    ),
    AnswerRule(
        answer=ArmsAnswer(
            id="outside-state",
            title="state on disk, there before the run",
            meaning="state in the folders that fresh-state replaces is there before the run: with empty ones it is"
            " green, and red again at their second use",
            advice="Look at what the target keeps in its cache and configuration folders, a kernel cache above all.",
        ),
        covers=frozenset({_K.STATE_OUTSIDE}),
        clauses=_gone(Role.FRESH_STATE),
        if_any=((Role.BYPASS, Shows.THERE), (Role.SERIAL, Shows.THERE), (Role.ISOLATE, Shows.THERE)),
        pairs=True,
    ),
    AnswerRule(
        answer=ArmsAnswer(
            id="no-arm",
            title="no arm changes it",
            meaning="no arm that acted changes it: the target's code, its input or this machine (driver, network,"
            " clock, limits, ports)",
            advice="Debug the victim alone. If it is green in another order, it needs a case that runs before it.",
        ),
        covers=frozenset(FaultKind),
        all_there=True,
    ),
)
"""In the order in which they are given where two hold; none of them is given under a red that a placebo moves."""

HIDDEN = ArmsAnswer(
    id="hidden-unwritten-read",
    title="unwritten bytes are read, and by luck do no harm",
    meaning="bytes that nobody wrote are read, and what they happen to hold lets the suite pass",
    advice="Find the buffer that is read before its first write: the fill shows the value that it reads.",
)
"""Given on a green baseline that is red under a fill, and green under the bypass where that can be had."""

ALL_ANSWERS = (*(rule.answer for rule in ANSWERS), HIDDEN)


def answer_of(pattern: Pattern, known: Circumstances) -> AnswerRule | None:
    """Return the answer that these arms give; None where they give none.

    A pattern must hold the placebo where one ran; a role that shows a rate of its own meets no condition.
    """
    if pattern.get(Role.PLACEBO, Shows.THERE) is not Shows.THERE:
        return None
    return next((rule for rule in ANSWERS if support(rule, pattern, known) is not None), None)


def support(rule: AnswerRule, pattern: Pattern, known: Circumstances) -> Pattern | None:
    """Return the part of a pattern that gives this answer; None where it does not."""
    if not rule.is_possible(known) or (rule.pairs and known.pairs < PAIRS_NEEDED):
        return None
    held = (one for one in rule.wanted(pattern) if all(pattern[role] is shows for role, shows in one.items()))
    return next(held, None)
