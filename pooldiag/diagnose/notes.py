"""Facts that stand beside a verdict: vacuous passes, counts that differ, identical bytes, what a census adds."""

from collections.abc import Iterator, Mapping, Sequence

from pooldiag.model.cases import OrderKind
from pooldiag.model.readings import Reading, Sight
from pooldiag.model.reports import ArmResult, Run
from pooldiag.model.settings import AttributeSettings

_NAMED = 3


def notes(results: Sequence[ArmResult], settings: AttributeSettings) -> tuple[str, ...]:
    """Return the notes of a diagnosis, each once."""
    return tuple(dict.fromkeys(_notes(results, settings)))


def _notes(results: Sequence[ArmResult], settings: AttributeSettings) -> Iterator[str]:
    runs = [run for result in results for run in result.runs]
    yield from _vacuous(runs)
    noise = tuple(_varying(results))
    yield from noise or _disagreeing(results)
    yield from _victim(results, settings)
    for result in results:
        if result.runs and result.arm.caveat is not None:
            yield f"{result.arm.role}: {result.arm.caveat}"
    yield from _of_runs(runs)
    if settings.order.kind is OrderKind.RAND and settings.order.seed in {0, None}:
        yield "seed 0, seed 1 and no seed are the same order in doctest"


def of_runs(where: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield what is odd about single runs, with the run, or how many they are."""
    for note, runs in where.items():
        yield f"{note} ({runs[0] if len(runs) == 1 else f'{len(runs)} runs'})"


def _of_runs(runs: Sequence[Run]) -> Iterator[str]:
    """Yield what is odd about single runs, each text once."""
    where: dict[str, list[str]] = {}
    for run in runs:
        for note in run.reading.notes:
            where.setdefault(note, []).append(run.id)
    for note, ids in where.items():
        yield f"{note} ({_named(ids, runs)})"


def _named(ids: Sequence[str], runs: Sequence[Run]) -> str:
    """Name a few runs, count many."""
    return f"{len(ids)}/{len(runs)} runs" if len(ids) > _NAMED else ", ".join(ids)


def _vacuous(runs: Sequence[Run]) -> Iterator[str]:
    """Name the cases that passed without an assertion, and the runs in which they did."""
    where: dict[str, list[str]] = {}
    for run in runs:
        for name in run.reading.vacuous:
            where.setdefault(name, []).append(run.id)
    for name, ids in where.items():
        yield f"passed without one assertion: {name} ({_named(ids, runs)})"


def _varying(results: Sequence[ArmResult]) -> Iterator[str]:
    """Tell a count of assertions that varies within one arm as noise."""
    for result in results:
        counts = {_assertions(run) for run in result.runs if run.reading.reading is Reading.GREEN}
        if len(counts) > 1:
            yield f"{result.arm.role}: green runs make {min(counts)} to {max(counts)} assertions, which is noise"


def _disagreeing(results: Sequence[ArmResult]) -> Iterator[str]:
    """Reconcile the counts of the green arms that ran everything."""
    counts: dict[int, list[str]] = {}
    for result in results:
        if result.shown is not None and set(result.sights) == {Sight.GREEN} and not result.shown.outcome.parts:
            counts.setdefault(_assertions(result.shown), []).append(str(result.arm.role))
    if len(counts) > 1:
        told = "; ".join(f"{count} in {', '.join(roles)}" for count, roles in sorted(counts.items()))
        yield f"the green arms did not make the same number of assertions: {told}"


def _assertions(run: Run) -> int:
    return run.outcome.report.assertions_passed + run.outcome.report.assertions_failed


def _victim(results: Sequence[ArmResult], settings: AttributeSettings) -> Iterator[str]:
    """Say so when the victim that the user named is not what the verdict is about."""
    baseline = results[0].runs if results else ()
    reds = [found for run in baseline for found in run.reading.signatures]
    if settings.victim is not None and reds and all(found.case != settings.victim for found in reds):
        yield f"{settings.victim} was not red in the baseline; the verdict is about the first red"


def witnesses(results: Sequence[ArmResult]) -> tuple[str, ...]:
    """Return what the censuses of the baseline's outputs add, by rule; a witness is never counted as a run."""
    shown = results[0].shown if results else None
    found: dict[str, list[str]] = {}
    for output in shown.outcome.outputs if shown is not None else ():
        for finding in output.census.findings if output.census is not None else ():
            text = f"{finding.text} [{finding.rule}, confidence: {finding.confidence}]"
            found.setdefault(text, []).append(output.path)
    return tuple(f"{', '.join(paths)}: {text}" for text, paths in found.items())
