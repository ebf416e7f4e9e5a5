"""Facts that stand beside a verdict: vacuous passes, counts that differ, identical bytes, what a census adds."""

import shlex
from collections.abc import Iterable, Iterator, Sequence

from pooldiag.attribution.fresh_state import no_answer
from pooldiag.frameworks.base import Framework
from pooldiag.model.arms import InheritedFill, Role
from pooldiag.model.attributions import Witness, WitnessKind
from pooldiag.model.readings import COLOURS, Reading, RunReading, Sight, StepKind
from pooldiag.model.reports import ArmResult, Run
from pooldiag.model.settings import AttributeSettings, CommandLine

_NAMED = 3
_FLOATS = ("f64", "f32", "bf16", "f16")
_CENSUS = "census"


def notes(results: Sequence[ArmResult], settings: AttributeSettings, framework: Framework) -> Iterator[str]:
    """Yield what a reader of these results should know."""
    runs = [run.reading for result in results for run in result.runs]
    vacuous = ((f"passed without one assertion: {name}", run.run) for run in runs for name in run.vacuous)
    yield from _in_runs(vacuous, total=len(runs))
    yield from tuple(_varying(results)) or _disagreeing(results)
    yield from _victim(results, settings)
    yield from _unanswering(results)
    yield from _stepping(results, settings)
    for result in results:
        if result.runs and result.arm.caveat is not None:
            yield f"{result.arm.role}: {result.arm.caveat}"
    yield from _finite_fills(results)
    yield from notes_of_runs(runs)
    if (remark := framework.remark(settings.order)) is not None:
        yield remark


def _unanswering(results: Sequence[ArmResult]) -> Iterator[str]:
    """Yield why runs in empty folders are no answer."""
    baseline = results[0].runs if results else ()
    for result in results:
        for run, seen in zip(result.runs, result.sights, strict=False):
            if (reason := no_answer(run, seen, baseline)) is not None:
                yield f"{run.id}: {reason}"


def _stepping(results: Sequence[ArmResult], settings: AttributeSettings) -> Iterator[str]:
    """Yield where an arm goes from one thing to another, and how what is behind that may be brought about."""
    for result in results:
        step = result.step
        if step is None:
            continue
        before, after = COLOURS[step.before], COLOURS[step.after]
        if step.kind is StepKind.FIRST:
            later = f"the {result.sights.count(step.after)} later ones {after}"
            cause = "the cause" if step.after is Sight.SAME_RED else "what mended it"
            yield (
                f"{result.arm.role}: the first run was {before}, {later}: something that the first run left behind may"
                f" be {cause}; fresh-state or --before can prove it"
            )
            yield from _left_behind(result, settings)
        else:
            run = result.runs[step.at]
            when = f"from run {_number(run)} on, which began after {_seconds_before(run, results)} of runs"
            why = "something changed at that time, so no rate is behind it"
            yield f"{result.arm.role}: {before} at first, {after} {when}: {why}"


def _left_behind(result: ArmResult, settings: AttributeSettings) -> Iterator[str]:
    """Propose to take away what the first run left in the working directory; what was there before is the user's."""
    files = result.runs[0].outcome.appeared
    if files and not settings.before:
        line = settings.invocation.having(f"--before={shlex.join(['rm', '-f', *files])}")
        yield f"the first run left {', '.join(files)} in the working directory; without it: {line}"


def _number(run: Run) -> int:
    number, _, _ = run.id.partition("-")
    return int(number)


def _seconds_before(run: Run, results: Sequence[ArmResult]) -> str:
    earlier = (one.seconds for result in results for one in result.runs if _number(one) < _number(run))
    return f"{sum(earlier):.3g} s"


def with_kept(fill: InheritedFill, settings: AttributeSettings, invocation: CommandLine) -> str:
    """Return the command with a variable kept that was removed, beside those that are kept already."""
    return invocation.having(*(f"--keep-env={name}" for name in (*settings.keep_environment, fill.name)))


def removed_fills(
    fills: Sequence[InheritedFill], settings: AttributeSettings, invocation: CommandLine
) -> Iterator[str]:
    """Yield what a green leaves open where the user's own environment fills memory, and the commands that tell."""
    for fill in fills:
        yield (
            f"{fill.name}={fill.value} of the environment was removed, and is perhaps what made it red ({fill.reason});"
            f" with it: {with_kept(fill, settings, invocation)}"
        )
        if fill.profile is not None:
            yield f"with arms that do the same: {invocation.having(f'--profile={fill.profile}')}"


def _finite_fills(results: Sequence[ArmResult]) -> Iterator[str]:
    """Say in which types the fill of a green arm is a NaN, where it is none in some: its green proves nothing there."""
    for result in results:
        named = result.arm.property("nan_in")
        if result.arm.role is not Role.POISON_N or named is None or set(result.sights) != {Sight.GREEN}:
            continue
        if finite := [name for name in _FLOATS if name not in named.split(",")]:
            yield f"poison-n: its fill is a NaN in {named}; its green is not a proof for {', '.join(finite)}"


def notes_of_runs(runs: Sequence[RunReading]) -> Iterator[str]:
    """Yield what is odd about single runs, each text once, with the runs."""
    return _in_runs(((note, run.run) for run in runs for note in run.notes), total=len(runs))


def _in_runs(found: Iterable[tuple[str, str]], *, total: int) -> Iterator[str]:
    """Yield each text once, and behind it the runs in which it was found: a few are named, many are counted."""
    where: dict[str, list[str]] = {}
    for text, run in found:
        where.setdefault(text, []).append(run)
    for text, runs in where.items():
        yield f"{text} ({f'{len(runs)}/{total} runs' if len(runs) > _NAMED else ', '.join(runs)})"


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
        counted = "; ".join(f"{count} in {', '.join(roles)}" for count, roles in sorted(counts.items()))
        yield f"the green arms did not make the same number of assertions: {counted}"


def _assertions(run: Run) -> int:
    return run.outcome.report.assertions_passed + run.outcome.report.assertions_failed


def _victim(results: Sequence[ArmResult], settings: AttributeSettings) -> Iterator[str]:
    """Say so when the victim that the user named is not what the verdict is about."""
    baseline = results[0].runs if results else ()
    reds = [found for run in baseline for found in run.reading.signatures]
    if settings.victim is not None and reds and all(found.case != settings.victim for found in reds):
        yield f"{settings.victim} was not red in the baseline; the verdict is about the first red"


def witnesses(results: Sequence[ArmResult]) -> tuple[Witness, ...]:
    """Return what the censuses of the baseline's outputs add, by rule."""
    shown = results[0].shown if results else None
    found: dict[tuple[str, str], list[str]] = {}
    for output in shown.outcome.outputs if shown is not None else ():
        for finding in output.census.findings if output.census is not None else ():
            source = f"census rule {finding.rule}, confidence: {finding.confidence}"
            found.setdefault((finding.text, source), []).append(output.path)
    return tuple(
        Witness(id=_CENSUS, kind=WitnessKind.HINT, text=f"{', '.join(paths)}: {text}", source=source)
        for (text, source), paths in found.items()
    )
