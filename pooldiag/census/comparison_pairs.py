"""Which tensors of two files, or which files of two folders, are to be compared, by their names alone."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pooldiag.model.comparisons import Pairing

# What stands beside the runs in the folder of a diagnosis, and beside `out` in the folder of a run.
_OF_A_DIAGNOSIS = frozenset({"report.json", "journal.jsonl"})
_OF_A_RUN = frozenset({"stdout", "stderr"})
# `11-poison-n`, but not `01-listing.before-1`, which an interrupted diagnosis left and another moved aside.
_RUN = re.compile(r"(?P<number>\d+)-(?P<role>[^/.]+)")
# Within a run: `out/video.bin`, or `3/out/video.bin` of the third of several processes.
_OUTPUT = re.compile(r"(?:[^/]+/)?out/.+", re.DOTALL)

Key: TypeAlias = tuple[str, int, str]  # role of the run, its place among the runs of this role, path in the run


def pair_tensors(here: Sequence[str], there: Sequence[str]) -> Pairing:
    """Pair the tensors of two files by name; the only one of a file and the only one of the other go together."""
    if len(here) == len(there) == 1:
        return Pairing(pairs=((here[0], there[0]),))
    return _paired({("", 0, name): name for name in here}, {("", 0, name): name for name in there})


def pair_paths(here: Sequence[str], there: Sequence[str]) -> Pairing:
    """Pair the files of two folders by path, which is relative to its folder and has `/` in it.

    Of a run that pooldiag made, only outputs are files to compare. In the folders of two diagnoses, a run goes with the
    run of the same role, the second `exact` with the second `exact`, because their numbers mean nothing.
    """
    return _paired(_keyed(here), _keyed(there))


def _paired(here: Mapping[Key, str], there: Mapping[Key, str]) -> Pairing:
    return Pairing(
        pairs=tuple((path, there[key]) for key, path in here.items() if key in there),
        here_only=tuple(path for key, path in here.items() if key not in there),
        there_only=tuple(path for key, path in there.items() if key not in here),
    )


def _keyed(paths: Sequence[str]) -> dict[Key, str]:
    """Return the paths of files to compare, in their order, each by what it is paired by."""
    if not _OF_A_DIAGNOSIS.isdisjoint(paths):
        return _outputs_of_a_diagnosis(paths)
    of_a_run = set(paths) >= _OF_A_RUN
    return {("", 0, path): path for path in paths if not of_a_run or _OUTPUT.fullmatch(path)}


def _outputs_of_a_diagnosis(paths: Sequence[str]) -> dict[Key, str]:
    runs: dict[str, set[tuple[int, str]]] = defaultdict(set)
    outputs: list[tuple[str, tuple[int, str], str, str]] = []
    for path in paths:
        folder, _, within = path.partition("/")
        if (run := _RUN.fullmatch(folder)) is None:
            continue
        number = (int(run["number"]), folder)
        runs[run["role"]].add(number)
        if _OUTPUT.fullmatch(within):
            outputs.append((run["role"], number, within, path))
    places = {role: {number: place for place, number in enumerate(sorted(each))} for role, each in runs.items()}
    return {(role, places[role][number], within): path for role, number, within, path in outputs}
