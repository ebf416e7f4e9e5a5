"""`census`: counts files one after the other, compares them with their references, and keeps what it found."""

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO

from pooldiag.census.files import open_tensor, recognise
from pooldiag.census.files.format import Declared, Tensor, TensorFile
from pooldiag.census.findings import OTHER_TYPE
from pooldiag.census.layouts import LAYOUTS, CensusError
from pooldiag.census.tensors import (
    RAW,
    TensorList,
    chosen,
    count_tensor,
    list_tensors,
    matching,
    place_of,
    suffix_of,
    with_head,
)
from pooldiag.errors import PooldiagError, UsageError
from pooldiag.model.censuses import STDIN, CensusProblem, CensusReport, CountedTensor, TypeGuesses
from pooldiag.model.comparisons import Comparison
from pooldiag.model.counts import Census

if TYPE_CHECKING:  # a census is counted in less time than all ports are imported
    from pooldiag.ports import TensorFiles

PATTERNS_KEPT = 2**16  # of all tensors together
_LEAST_PATTERNS = 64  # of one tensor, however many others there are
_CHANGED = "it changed while it was counted: the counts may mix what was there before and after"
_NAME_IT = "raw files (.bin, .raw) do not say their type: name it, --dtype f32"


@dataclass(frozen=True, slots=True, kw_only=True)
class CensusSettings:
    """What a census is to do. A map is made if `mapped`, and kept if it is of one color, too, if `always_mapped`."""

    files: tuple[str, ...] = ()
    declared: Declared = Declared()
    format: TensorFile | None = None
    patterns: tuple[str, ...] = ()
    sha256: bool = False
    mapped: bool = False
    always_mapped: bool = False
    guess: bool = False
    reference: str | None = None
    watched: str | None = None
    watch_seconds: float | None = None

    @property
    def counts_raw(self) -> bool:
        """Whether a raw file that nobody named can be counted."""
        return (self.declared.layout is not None or self.guess) and self.format in {None, RAW}


@dataclass(frozen=True, slots=True, kw_only=True)
class CensusInput:
    """One file to count, and what it is compared with; `named` by the user, and not found in a folder."""

    path: str
    reference: str | None = None
    named: bool = True


@dataclass(slots=True, kw_only=True)
class FileCounter:
    """What was found so far. `show` is called with what is being counted."""

    settings: CensusSettings
    files: "TensorFiles"
    show: Callable[[str], object]
    tensors: list[CountedTensor] = field(default_factory=list)
    problems: list[CensusProblem] = field(default_factory=list)
    guesses: list[TypeGuesses] = field(default_factory=list)
    here_only: list[str] = field(default_factory=list)
    there_only: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    skipped: int = 0
    names: dict[str, None] = field(default_factory=dict)  # of tensors, in the order they were seen
    named: set[str] = field(default_factory=set)  # the patterns of the user that named some
    patterns_kept: int = 0

    def inputs(self) -> list[CensusInput]:
        """Return the files to count, in their order; UsageError for what cannot be compared."""
        reference = self.settings.reference
        if reference == STDIN:
            raise UsageError("--against -: a reference is read more than once", hint="save it first")
        if reference is not None and not self.files.exists(reference):
            raise UsageError(f"--against {reference}: no such file or folder", hint="name what to compare with")
        found: list[CensusInput] = []
        for path in self.settings.files:
            if self.files.is_folder(path):
                found += self._inputs_below(path)
            else:
                found.append(CensusInput(path=path, reference=self.reference_of(path, PurePath(path).name)))
        return found

    def reference_of(self, path: str, name: str) -> str | None:
        """Return what a file is compared with: the reference, or the file `name` in a reference that is a folder.

        A file that is not there is noted as such.
        """
        reference = self.settings.reference
        if reference is None or not self.files.is_folder(reference):
            return reference
        found = posixpath.join(reference, name)
        if self.files.stamp_at(found) is not None:
            return found
        self.here_only.append(path)
        return None

    def holds_tensors(self, path: str) -> bool:
        """Say whether a file that nobody named is to be counted: of a known format or, with a type, a raw one."""
        try:
            with self.files.open(path) as (file, _):
                found = recognise(with_head(file)[1], suffix_of(path))
        except OSError:
            return True  # so that it is reported
        if found is None or (found is RAW and not self.settings.counts_raw):
            return False
        return self.settings.format in {None, found}

    def count(self, given: CensusInput) -> None:
        """Count a file, and compare it with its reference; what goes wrong is kept as a problem."""
        with self._keeping(given.path), self.files.open(given.path) as (file, stamp), ExitStack() as stack:
            before = len(self.tensors), len(self.problems)
            listing = self._listing(file, given)
            self.names.update((tensor.name, None) for tensor in listing.tensors if tensor.name is not None)
            self.named.update(pattern for pattern in self.settings.patterns if matching(listing.tensors, pattern))
            tensors = chosen(listing.tensors, self.settings.patterns)
            references: dict[str, tuple[TensorList, Tensor]] = {}
            if given.reference is not None and stamp is None:
                self._add_problem(given.path, "it can be read once: it is counted, and not compared", "save it first")
            elif given.reference is not None:
                references = self._references(listing, tensors, given.reference, stack)
            for tensor in tensors:
                self._count_tensor(listing, tensor, references.get(tensor.name or ""))
            if stamp is not None and self.files.stamp_of(file) != stamp:
                self._mark_changed(given.path, *before)

    def drop(self, path: str, reference: str | None = None) -> None:
        """Forget what was found in a file, and in what it was compared with."""
        self.tensors = [one for one in self.tensors if one.census.path != path]
        self.problems = [one for one in self.problems if one.path != path]
        self.here_only = _without(self.here_only, path)
        self.there_only = _without(self.there_only, reference)

    def check_patterns(self) -> None:
        """Add a problem for each pattern of the user that named no tensor."""
        from pooldiag.model.words import SLIP, nearest  # noqa: PLC0415 - few name tensors

        for pattern in self.settings.patterns:
            if pattern not in self.named:
                near = nearest(pattern, self.names, likeness=SLIP)
                hint = f"{len(self.names)} tensors have names" if near is None else f"the nearest is {near!r}"
                self.problems.append(CensusProblem(path="", problem=f"--tensor {pattern!r} names no tensor", hint=hint))

    def report(self) -> CensusReport:
        """Return what was found so far."""
        line = self._next()
        return CensusReport(
            files=tuple(self.tensors),
            problems=tuple(self.problems),
            guesses=tuple(self.guesses),
            skipped=self.skipped,
            reference=self.settings.reference,
            here_only=tuple(self.here_only),
            there_only=tuple(self.there_only),
            watched=self.settings.watched,
            notes=tuple(self.notes),
            next=line,
            next_purpose=None if line is None else "to see which type fits",
        )

    def _inputs_below(self, folder: str) -> list[CensusInput]:
        reference = self.settings.reference
        if reference is not None and not self.files.is_folder(reference):
            raise UsageError(
                f"--against {reference} is a file, and {folder} a folder", hint="compare a file, or give a folder"
            )
        names = self._below(folder)
        paired = dict.fromkeys(names) if reference is None else self._paired(names, reference)
        found = []
        for name, counterpart in paired.items():
            path = name if folder == "." else posixpath.join(folder, name)
            if self.holds_tensors(path):
                found.append(CensusInput(path=path, reference=counterpart, named=False))
                self.here_only += [path] if reference is not None and counterpart is None else []
        self.skipped += len(names) - len(found)
        if not found:
            hint = None if self.settings.counts_raw else _NAME_IT
            self._add_problem(folder, f"no tensor file in it, of {len(names)} files", hint)
        return found

    def _below(self, folder: str) -> list[str]:
        names, problems = self.files.below(folder)
        self.problems += problems
        return sorted(names, key=natural)

    def _paired(self, names: list[str], reference: str) -> dict[str, str | None]:
        """Return the files below a folder that are to be compared, each with its counterpart below the reference."""
        from pooldiag.census.comparison_pairs import pair_paths  # noqa: PLC0415 - few compare

        pairing = pair_paths(names, self._below(reference))
        both = {here: posixpath.join(reference, there) for here, there in pairing.pairs}
        there_only = (posixpath.join(reference, name) for name in pairing.there_only)
        self.there_only += [path for path in there_only if self.holds_tensors(path)]
        return {name: both.get(name) for name in names if name in {*both, *pairing.here_only}}

    def _listing(self, file: BinaryIO, given: CensusInput) -> TensorList:
        """List a file, its types guessed where that is asked for."""
        settings, path = self.settings, given.path
        listed = partial(list_tensors, path=path, wanted=settings.format, of_raw_files=not given.named)
        if not settings.guess:
            return listed(file, settings.declared)
        from pooldiag.census.type_guesses import NOT_ONE_TYPE, guess_file, with_types  # noqa: PLC0415 - NumPy, and few guess

        found = guess_file(file, settings.declared, path=path, wanted=settings.format)
        self.guesses += found.guesses
        if any(len(one.fitting) != 1 and one.tensor is None for one in found.guesses):
            raise CensusError(f"{path}: no one type fits its bytes", hint=NOT_ONE_TYPE)
        return with_types(listed(found.file, found.declared), found.guesses)

    def _count_tensor(self, listing: TensorList, tensor: Tensor, reference: tuple[TensorList, Tensor] | None) -> None:
        settings = self.settings
        self.show(place_of(listing.path, tensor.name))
        with self._keeping(listing.path):
            census = self._kept(count_tensor(listing, tensor, sha256=settings.sha256, mapped=settings.mapped))
            self.tensors.append(CountedTensor(census=census))
            if reference is not None:
                self.tensors[-1] = CountedTensor(census=census, comparison=_compared((listing, tensor), reference))

    def _references(
        self, listing: TensorList, tensors: tuple[Tensor, ...], path: str, stack: ExitStack
    ) -> dict[str, tuple[TensorList, Tensor]]:
        """Return what each tensor is compared with; the reference stays open as long as the stack."""
        from pooldiag.census.comparison_pairs import pair_tensors  # noqa: PLC0415 - few compare

        found: dict[str, tuple[TensorList, Tensor]] = {}
        with self._keeping(path):
            file, stamp = stack.enter_context(self.files.open(path))
            if stamp is None:
                problem = f"{path}: a reference is read more than once, and this is no file"
                raise UsageError(problem, hint="save it first")
            declared = self.settings.declared
            if declared.layout is None and tensors:  # a raw one is of the type of what is compared with it
                declared = replace(declared, layout=LAYOUTS.get(tensors[0].dtype))
            there = list_tensors(file, declared, path=path, of_raw_files=True)
            wanted = chosen(there.tensors, self.settings.patterns) or there.tensors
            by_name = {tensor.name or "": tensor for tensor in wanted}
            pairing = pair_tensors([tensor.name or "" for tensor in tensors], list(by_name))
            self.here_only += [place_of(listing.path, name or None) for name in pairing.here_only]
            self.there_only += [place_of(path, name or None) for name in pairing.there_only]
            found |= {ours: (there, by_name[theirs]) for ours, theirs in pairing.pairs}
        return found

    def _kept(self, census: Census) -> Census:
        """Return a census as it is kept: without an empty map, and with fewer patterns if they are too many in all."""
        if not self.settings.always_mapped and (census.nan == census.n or not census.nan + census.inf):
            census = replace(census, blocks=None)  # it would be of one color
        room = max(_LEAST_PATTERNS, PATTERNS_KEPT - self.patterns_kept)
        if len(census.nan_patterns) > room:
            census = replace(census, nan_patterns=census.nan_patterns[:room], nan_patterns_complete=False)
        self.patterns_kept += len(census.nan_patterns)
        return census

    def _mark_changed(self, path: str, tensors: int, problems: int) -> None:
        """Say that a file changed, if nothing worse was said of it already."""
        self.tensors[tensors:] = [
            replace(one, census=replace(one.census, notes=(*one.census.notes, _CHANGED)))
            for one in self.tensors[tensors:]
        ]
        if len(self.problems) == problems:
            self._add_problem(path, _CHANGED, "count it again when whoever writes it is done")

    def _add_problem(self, path: str, problem: str, hint: str | None = None) -> None:
        self.problems.append(CensusProblem(path=path, problem=f"{path}: {problem}", hint=hint))

    @contextmanager
    def _keeping(self, path: str) -> Iterator[None]:
        try:
            yield
        except PooldiagError as error:
            self.problems.append(CensusProblem(path=path, problem=error.problem, hint=error.hint))
        except OSError as error:
            self._add_problem(path, f"cannot be read: {error.strerror or error}")

    def _next(self) -> str | None:
        """Return the command that finds the type of a raw file that is not of the type it was counted as."""
        for census in (one.census for one in self.tensors if one.census.format == RAW.name):
            if census.path != STDIN and any(finding.rule in OTHER_TYPE for finding in census.findings):
                offset = [f"--offset={self.settings.declared.offset}"] if self.settings.declared.offset else []
                separator = ["--"] if census.path.startswith("-") else []
                return shlex.join(["pooldiag", "census", "--guess", *offset, *separator, census.path])
        return None


def natural(path: str) -> list[str | int]:
    """Return what paths are sorted by: numbers in them by value, so that layer 9 comes before layer 10."""
    parts = re.split(r"([0-9]+)", path)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)]


def _without(names: list[str], path: str | None) -> list[str]:
    return [name for name in names if path is None or (name != path and not name.startswith(f"{path}::"))]


def _compared(here: tuple[TensorList, Tensor], there: tuple[TensorList, Tensor]) -> Comparison:
    """Compare two tensors; CensusError where the same place in memory is not the same place in the tensor."""
    from pooldiag.census.comparison import Operand, compare  # noqa: PLC0415 - few compare

    places = [place_of(listing.path, tensor.name) for listing, tensor in (here, there)]
    if None not in {here[1].shape, there[1].shape} and here[1].axes != there[1].axes:
        raise CensusError(
            f"{places[0]}: its elements are in another order than those of {places[1]}: orders differ, not compared",
            hint="save both in one order: numpy.ascontiguousarray, or .contiguous() of torch",
        )

    sides = [
        Operand(
            file=open_tensor(listing.file, tensor, path=listing.path),
            path=listing.path,
            layout=LAYOUTS[tensor.dtype],
            tensor=tensor.name,
            shape=tensor.shape,
            byte_order=tensor.byte_order,
            count=tensor.count,
        )
        for listing, tensor in (here, there)
    ]
    return compare(*sides)
