"""Which files a census counts, in which order, and what each is compared with."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pooldiag.cli.census_asked import Asked, is_typed
from pooldiag.cli.census_inputs import STDIN, Input, files_below, is_folder, is_tensor_file
from pooldiag.errors import UsageError
from pooldiag.model.censuses import CensusProblem


@dataclass(slots=True, kw_only=True)
class Plan:
    """Files to count, each with its reference; what was found on the way to them."""

    items: list[tuple[Input, str | None]] = field(default_factory=list)
    problems: list[CensusProblem] = field(default_factory=list)
    here_only: list[str] = field(default_factory=list)
    there_only: list[str] = field(default_factory=list)
    skipped: int = 0


def plan(asked: Asked) -> Plan:
    """Look at what the user named; UsageError for what cannot be compared."""
    made = Plan()
    if asked.reference is not None and asked.reference != STDIN and not os.path.exists(asked.reference):
        raise UsageError(f"--against {asked.reference}: no such file or folder", hint="name what to compare with")
    if asked.reference == STDIN:
        raise UsageError("--against -: a reference is read more than once", hint="save it first")
    for path in asked.files:
        if is_folder(path):
            _add_folder(made, path, asked)
        else:
            made.items.append((Input(path=path), reference_of(path, Path(path).name, asked, made.here_only)))
    return made


def reference_of(path: str, name: str, asked: Asked, here_only: list[str]) -> str | None:
    """Return what a file is compared with: the reference, or the file `name` in a reference that is a folder.

    A file that is not there is added to `here_only`.
    """
    reference = asked.reference
    if reference is None or not is_folder(reference):
        return reference
    found = os.path.join(reference, name)
    if os.path.isfile(found):
        return found
    here_only.append(path)
    return None


def _add_folder(made: Plan, folder: str, asked: Asked) -> None:
    if asked.reference is not None and not is_folder(asked.reference):
        raise UsageError(
            f"--against {asked.reference} is a file, and {folder} a folder", hint="compare a file, or give a folder"
        )
    before = len(made.items)
    found = files_below(folder, made.problems)
    compared = dict(_paired(made, found, asked)) if asked.reference is not None else dict.fromkeys(found)
    for name, reference in compared.items():
        path = name if folder == os.curdir else os.path.join(folder, name)
        if is_tensor_file(path, wanted=asked.format, typed=is_typed(asked)):
            made.items.append((Input(path=path, named=False), reference))
            made.here_only += [path] if asked.reference is not None and reference is None else []
    counted = len(made.items) - before
    made.skipped += len(found) - counted
    if not counted:
        made.problems.append(_nothing_in(folder, len(found), asked))


def _paired(made: Plan, found: list[str], asked: Asked) -> Iterator[tuple[str, str | None]]:
    """Yield the files below a folder, each with its counterpart below the reference."""
    from pooldiag.census.comparison_pairs import pair_paths  # noqa: PLC0415 - few compare

    reference = asked.reference or ""
    there = files_below(reference, made.problems)
    pairing = pair_paths(found, there)
    both = dict(pairing.pairs)
    known = {*both, *pairing.here_only}
    yield from (
        (name, os.path.join(reference, both[name]) if name in both else None) for name in found if name in known
    )
    for name in pairing.there_only:
        path = os.path.join(reference, name)
        if is_tensor_file(path, wanted=asked.format, typed=is_typed(asked)):
            made.there_only.append(path)


def _nothing_in(folder: str, others: int, asked: Asked) -> CensusProblem:
    hint = None if is_typed(asked) else "raw files (.bin, .raw) do not say their type: name it, --dtype f32"
    return CensusProblem(path=folder, problem=f"{folder}: no tensor file in it, of {others} files", hint=hint)
