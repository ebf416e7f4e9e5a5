"""Counts files one after the other, compares them with their references, and keeps what it found."""

import difflib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from pooldiag.census.files import open_tensor
from pooldiag.census.files.base import Declared, Tensor
from pooldiag.census.layouts import LAYOUTS, CensusError
from pooldiag.census.tensors import TensorList, chosen, count_tensor, list_tensors, matching, place_of
from pooldiag.cli.census_asked import Asked
from pooldiag.cli.census_inputs import Input, opened, suffix_of
from pooldiag.errors import PooldiagError, UsageError
from pooldiag.execute.file_stamps import stamp_at
from pooldiag.model.census import Census
from pooldiag.model.censuses import CensusProblem, CountedTensor, TypeGuesses
from pooldiag.model.comparisons import Comparison

PATTERNS_KEPT = 2**16  # of all tensors together
_LEAST_PATTERNS = 64  # of one tensor, however many others there are
_CHANGED = "it changed while it was counted: the counts may mix what was there before and after"


@dataclass(slots=True, kw_only=True)
class Counter:
    """What was found so far. `progress` is told what is being counted."""

    asked: Asked
    progress: Callable[[str], object]
    files: list[CountedTensor] = field(default_factory=list)
    problems: list[CensusProblem] = field(default_factory=list)
    guesses: list[TypeGuesses] = field(default_factory=list)
    here_only: list[str] = field(default_factory=list)
    there_only: list[str] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)  # of tensors, in the order they were seen
    named: set[str] = field(default_factory=set)  # the patterns of the user that named some
    patterns_kept: int = 0

    def count(self, given: Input, reference: str | None = None) -> None:
        """Count a file, and compare it with its reference; what goes wrong is kept as a problem."""
        with self._telling(given.path), opened(given.path) as (file, stamp):
            before = len(self.files), len(self.problems)
            listing = self._listing(file, given)
            tensors = self._chosen(listing)
            if reference is None:
                self._count_all(listing, tensors, {})
            elif stamp is None:
                self._add_problem(given.path, "it can be read once: it is counted, and not compared", "save it first")
                self._count_all(listing, tensors, {})
            else:
                self._count_and_compare(listing, tensors, reference)
            if stamp is not None and stamp_at(file.fileno()) != stamp:
                self._mark_changed(given.path, *before)

    def drop(self, path: str, reference: str | None = None) -> None:
        """Forget what was found in a file, and in what it was compared with."""
        self.files = [one for one in self.files if one.census.path != path]
        self.problems = [one for one in self.problems if one.path != path]
        self.here_only = _without(self.here_only, path)
        self.there_only = _without(self.there_only, reference)

    def check_patterns(self) -> None:
        """Add a problem for each pattern of the user that named no tensor."""
        for pattern in self.asked.patterns:
            if pattern not in self.named:
                near = difflib.get_close_matches(pattern, self.names, n=1, cutoff=0.3)
                hint = f"the nearest is {near[0]!r}" if near else f"{len(self.names)} tensors have names"
                self.problems.append(CensusProblem(path="", problem=f"--tensor {pattern!r} names no tensor", hint=hint))

    def _listing(self, file: BinaryIO, given: Input) -> TensorList:
        """List a file, its types guessed where that is asked for."""
        asked = self.asked
        if not asked.guess:
            return self._listed(file, asked.declared, given)
        from pooldiag.census.guessing import NOT_ONE_TYPE, guess_file, with_types  # noqa: PLC0415 - NumPy, and few guess

        found = guess_file(file, asked.declared, path=given.path, suffix=suffix_of(given.path), wanted=asked.format)
        self.guesses += found.guesses
        if any(len(one.fitting) != 1 and one.tensor is None for one in found.guesses):
            raise CensusError(f"{given.path}: no one type fits its bytes", hint=NOT_ONE_TYPE)
        return with_types(self._listed(found.file, found.declared, given), found.guesses)

    def _listed(self, file: BinaryIO, declared: Declared, given: Input) -> TensorList:
        return list_tensors(
            file,
            declared,
            path=given.path,
            suffix=suffix_of(given.path),
            wanted=self.asked.format,
            of_raw_files=not given.named,
        )

    def _chosen(self, listing: TensorList) -> tuple[Tensor, ...]:
        self.names.update((tensor.name, None) for tensor in listing.tensors if tensor.name is not None)
        self.named.update(pattern for pattern in self.asked.patterns if matching(listing.tensors, pattern))
        return chosen(listing.tensors, self.asked.patterns)

    def _count_all(self, listing: TensorList, tensors: tuple[Tensor, ...], references: dict[str, "_Operand"]) -> None:
        for tensor in tensors:
            self.progress(place_of(listing.path, tensor.name))
            with self._telling(listing.path):
                census = self._kept(count_tensor(listing, tensor, sha256=self.asked.sha256, mapped=self.asked.mapped))
                self.files.append(CountedTensor(census=census))
                if (reference := references.get(tensor.name or "")) is not None:
                    compared = _compared(_Operand(listing=listing, tensor=tensor), reference)
                    self.files[-1] = CountedTensor(census=census, comparison=compared)

    def _count_and_compare(self, listing: TensorList, tensors: tuple[Tensor, ...], path: str) -> None:
        with ExitStack() as stack:
            self._count_all(listing, tensors, self._references(listing, tensors, path, stack))

    def _references(
        self, listing: TensorList, tensors: tuple[Tensor, ...], path: str, stack: ExitStack
    ) -> dict[str, "_Operand"]:
        """Return what each tensor is compared with; the reference stays open as long as the stack."""
        from pooldiag.census.comparison_pairs import pair_tensors  # noqa: PLC0415 - few compare

        references: dict[str, _Operand] = {}
        with self._telling(path):
            file, stamp = stack.enter_context(opened(path))
            if stamp is None:
                raise UsageError(
                    f"{path}: a reference is read more than once, and this is no file", hint="save it first"
                )
            there = self._reference_listing(file, path, tensors)
            wanted = chosen(there.tensors, self.asked.patterns) or there.tensors
            by_name = {tensor.name or "": tensor for tensor in wanted}
            pairing = pair_tensors([tensor.name or "" for tensor in tensors], list(by_name))
            self.here_only += [place_of(listing.path, name or None) for name in pairing.here_only]
            self.there_only += [place_of(path, name or None) for name in pairing.there_only]
            references |= {ours: _Operand(listing=there, tensor=by_name[theirs]) for ours, theirs in pairing.pairs}
        return references

    def _reference_listing(self, file: BinaryIO, path: str, tensors: tuple[Tensor, ...]) -> TensorList:
        """List a reference; of a raw one that nothing is said of, the type is that of what is compared with it."""
        declared = self.asked.declared
        if declared.layout is None and tensors:
            declared = replace(declared, layout=LAYOUTS.get(tensors[0].dtype))
        return list_tensors(file, declared, path=path, suffix=suffix_of(path), of_raw_files=True)

    def _kept(self, census: Census) -> Census:
        """Return a census as it is kept: without an empty map, and with fewer patterns if they are too many in all."""
        wanted = self.asked.always_shown or self.asked.save is not None
        if not wanted and (census.nan == census.n or not census.nan + census.inf):
            census = replace(census, blocks=None)  # it would be of one color
        room = max(_LEAST_PATTERNS, PATTERNS_KEPT - self.patterns_kept)
        if len(census.nan_patterns) > room:
            census = replace(census, nan_patterns=census.nan_patterns[:room], nan_patterns_complete=False)
        self.patterns_kept += len(census.nan_patterns)
        return census

    def _mark_changed(self, path: str, files: int, problems: int) -> None:
        """Say that a file changed, if nothing worse was said of it already."""
        self.files[files:] = [
            replace(one, census=replace(one.census, notes=(*one.census.notes, _CHANGED))) for one in self.files[files:]
        ]
        if len(self.problems) == problems:
            self._add_problem(path, _CHANGED, "count it again when whoever writes it is done")

    def _add_problem(self, path: str, problem: str, hint: str | None) -> None:
        self.problems.append(CensusProblem(path=path, problem=f"{path}: {problem}", hint=hint))

    @contextmanager
    def _telling(self, path: str) -> Iterator[None]:
        """Keep what goes wrong as a problem."""
        try:
            yield
        except PooldiagError as error:
            self.problems.append(CensusProblem(path=path, problem=error.problem, hint=error.hint))
        except OSError as error:
            self._add_problem(path, f"cannot be read: {error.strerror or error}", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operand:
    """A tensor, and the file it is in."""

    listing: TensorList
    tensor: Tensor


def _without(names: list[str], path: str | None) -> list[str]:
    """Leave out a file and its tensors."""
    return [name for name in names if path is None or (name != path and not name.startswith(f"{path}::"))]


def _compared(here: _Operand, there: _Operand) -> Comparison:
    """Compare two tensors; CensusError where the same place in memory is not the same place in the tensor."""
    from pooldiag.census.comparison import Operand, compare  # noqa: PLC0415 - few compare

    places = [place_of(side.listing.path, side.tensor.name) for side in (here, there)]
    if None not in {here.tensor.shape, there.tensor.shape} and here.tensor.axes != there.tensor.axes:
        raise CensusError(
            f"{places[0]}: its elements are in another order than those of {places[1]}: orders differ, not compared",
            hint="save both in one order: numpy.ascontiguousarray, or .contiguous() of torch",
        )

    def operand(side: _Operand) -> Operand:
        tensor = side.tensor
        return Operand(
            file=open_tensor(side.listing.file, tensor, path=side.listing.path),
            path=side.listing.path,
            layout=LAYOUTS[tensor.dtype],
            tensor=tensor.name,
            shape=tensor.shape,
            byte_order=tensor.byte_order,
            count=tensor.count,
        )

    return compare(operand(here), operand(there))
