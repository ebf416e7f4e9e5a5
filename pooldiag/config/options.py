"""What may be said of a diagnosis: each thing once, with its flag, its key in the file, its kind and its help.

Flags, a target of the file and its sections are all `Options`, laid over each other. None, empty and False: not said.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Unpack

from pooldiag.config.kinds import (
    ARM,
    COMMAND_WORDS,
    COUNT,
    DURATION,
    NAME,
    ORDER,
    OUTPUT,
    PATH,
    PLAIN_ORDERS,
    PROPERTY,
    ROLES,
    SEED,
    SEEDS,
    SHARE,
    SIZE,
    SWITCH_WORDS,
    TEXT,
    ValueKind,
    time_limit,
)
from pooldiag.errors import UsageError
from pooldiag.toml_tables import UnexpectedError, each

if TYPE_CHECKING:  # `--help` has no use for what is imported where it is read
    from pooldiag.model.arms import Role
    from pooldiag.model.cases import OrderKind
    from pooldiag.model.settings import OutputSpec

_METADATA = "option"

_T = TypeVar("_T")

Texts = Mapping[str, Any]
"""What was typed, by the names of fields: a text, some texts, or whether a switch is on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """How one field is said: as a flag, or as a key of the file. A `kind` of None is a switch, which has no value.

    Without a flag it is an argument, by its place among the words.

    `many`: it may be given more than once. `adds`: what is said above goes behind what is said beneath, not in its
    place. `behind`: its flag may stand behind TARGET, too. `passing`: it says nothing of the runs, and no further
    command repeats it. `help` may name what a registry knows, `{frameworks}`.
    """

    help: str = field(kw_only=False)
    name: str = ""
    flag: str = ""
    short: str | None = None
    off: str | None = None
    kind: ValueKind[object] | None = None
    metavar: str | None = None
    variable: str | None = None
    key: str | None = None
    panel: str | None = None
    many: bool = False
    adds: bool = False
    behind: bool = False
    passing: bool = False
    required: bool = False

    def read(self, value: object, folder: Path) -> object:
        """Read a value of the file."""
        kind = self.kind
        if kind is None:
            if not isinstance(value, bool):
                raise UnexpectedError("true or false")
            return value
        if self.many and not kind.at_once:
            return each(lambda one: kind.value(one, folder))(value)
        return kind.value(value, folder)


class _Ways(TypedDict, total=False):
    """What a field may say of its option."""

    flag: str
    short: str
    off: str
    metavar: str
    variable: str
    key: str
    adds: bool
    behind: bool
    passing: bool


def single(kind: ValueKind[_T], help_text: str, **ways: Unpack[_Ways]) -> _T | None:
    """Return a field that has one value, or none."""
    return field(default=None, metadata={_METADATA: Option(help_text, kind=kind, **ways)})


def several(kind: ValueKind[_T], help_text: str, **ways: Unpack[_Ways]) -> tuple[_T, ...]:
    """Return a field that has any number of values."""
    return field(default=(), metadata={_METADATA: Option(help_text, kind=kind, many=True, **ways)})


def several_if_any(kind: ValueKind[_T], help_text: str, **ways: Unpack[_Ways]) -> tuple[_T, ...] | None:
    """Return a field with values, of which none at all can be said, too."""
    return field(default=None, metadata={_METADATA: Option(help_text, kind=kind, many=True, **ways)})


def switch(help_text: str, **ways: Unpack[_Ways]) -> bool:
    """Return a field that is on or off."""
    return field(default=False, metadata={_METADATA: Option(help_text, **ways)})


def switch_if_any(help_text: str, **ways: Unpack[_Ways]) -> bool | None:
    """Return a field that is on, off, or neither."""
    return field(default=None, metadata={_METADATA: Option(help_text, **ways)})


def options_of(flags: type) -> Mapping[str, Option]:
    """Return the options of a data class, by the names of its fields."""
    found = {entry.name: entry.metadata[_METADATA] for entry in fields(flags) if _METADATA in entry.metadata}
    return {
        name: replace(option, name=name, flag=option.flag or f"--{name.replace('_', '-')}")
        for name, option in found.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """All that may be said of a diagnosis, by any command or by the file.

    `words` say the same as a command line does, each with the name of its field; what the file says has none.
    """

    order: "OrderKind | None" = single(ORDER, "Running order.", key="target.order")
    seed: int | None = single(SEED, "Seed of --order rand.", key="target.seed")
    case: tuple[str, ...] = several(
        TEXT, "Run only these cases; * and ? as in a shell.", metavar="PATTERN", key="target.cases"
    )
    victim: str | None = single(NAME, "The case that the verdict is about.", key="target.victim")
    framework: str | None = single(NAME, "{frameworks}; found by itself in a binary.", key="target.framework")
    cwd: Path | None = single(PATH, "Working directory of every run.", metavar="DIR", key="target.cwd")
    before: tuple[str, ...] | None = single(
        COMMAND_WORDS, "Run ahead of every run, to reset state.", key="target.before"
    )
    keep_env: tuple[str, ...] = several(
        NAME, "Do not remove this inherited variable.", key="target.keep_env", adds=True
    )
    profile: str | None = single(NAME, "Allocator, see `profiles`; most are found by themselves.", key="target.profile")
    arm: tuple[str, ...] = several(
        ARM, "An arm: 'bypass=MY_POOL=off -OTHER' (-NAME unsets).", key="target.arms", adds=True
    )
    property: tuple[str, ...] = several(
        PROPERTY, "What is known of an arm: 'bypass.addresses=apart'.", key="target.properties", adds=True
    )
    stats: str | None = single(SWITCH_WORDS, "Variables that make the pool print counters.", key="target.stats")
    counter: tuple[str, ...] = several(
        TEXT, r"A counter it prints: 'hits=(\d+)'.", metavar="NAME=REGEX", key="target.counter", adds=True
    )
    arms: "tuple[Role, ...] | None" = single(
        ROLES, "Run only these arms, and the baseline: 'bypass,exact'.", key="run.roles"
    )
    no_witness: tuple[str, ...] = several(
        NAME, "Leave out this fact or hint: {witnesses}.", key="run.no_witness", adds=True
    )
    confidence: float | None = single(SHARE, "Posterior that a verdict needs (default: 0.99).", key="run.confidence")
    search_confidence: float | None = single(
        SHARE, "How sure an answer must be where runs disagree (default: 0.99).", flag="--confidence"
    )
    budget: float | None = single(
        time_limit("leaves no time for a run", "for instance 30m, 2h"),
        "Start no run after that time.",
        key="run.budget",
    )
    max_runs: int | None = single(COUNT, "Most runs of all arms (default: 96).", key="run.max_runs")
    search_runs: int | None = single(COUNT, "Most runs of the search (default: 1000).", flag="--max-runs")
    outputs: "tuple[OutputSpec, ...]" = several(
        OUTPUT,
        "Tensors that it writes into POOLDIAG_OUTPUT_DIR: 'out.npy', or 'video.bin:f32' of a raw file ({types}).",
        key="target.outputs",
    )
    printed_census: bool | None = switch_if_any(
        "Whether census lines are read that the target prints; a log may speak of a reference.",
        off="--no-printed-census",
        key="target.printed_census",
    )
    requires: tuple[Path, ...] = several(PATH, "A file that must be readable, else blocked.", key="target.requires")
    fresh_check: tuple[str, ...] | None = single(
        COMMAND_WORDS, "Must find nothing to build: 'ninja -n'.", key="target.fresh_check"
    )
    timeout: float | None = single(
        time_limit("ends every run at once", "for instance 90, 30m, 2h"),
        "Limit of one run (default: 10 x the longest green).",
        key="target.timeout",
    )
    grace: float | None = single(DURATION, "From SIGTERM to SIGKILL (default: 10s).", key="target.grace")
    lock: tuple[Path, ...] | None = several_if_any(
        PATH, "Device lock, held all along (default: ~/gpu.lock).", key="lock.paths", variable="POOLDIAG_LOCK"
    )
    no_lock: bool = switch("Take no lock.")
    lock_wait: float | None = single(DURATION, "Longest wait for the lock (default: 45m).", key="lock.wait")
    disk_floor: int | None = single(SIZE, "Disk to stay free (default: 1GiB).", key="disk.floor")
    memory_floor: int | None = single(SIZE, "Memory to stay free (default: 512MiB).", key="memory.floor")
    need: int | None = single(SIZE, "Disk that must be free at the start.", key="disk.need")
    config: Path | None = single(PATH, "Configuration (default: the nearest pooldiag.toml).", metavar="FILE")
    repeat: int | None = single(COUNT, "Run every arm so often, instead of as needed.", key="run.repeat")
    sequence: Path | None = single(
        PATH,
        "A running order: names of cases, one a line, the last or --victim being the victim; - is standard input.",
        metavar="FILE",
        behind=True,
    )
    no_arms: bool = switch("Run no arms on the cases that are left.", behind=True)
    search_repeat: int | None = single(
        COUNT, "Run the whole order so often until it is taken for green (default: 2).", flag="--repeat", behind=True
    )
    all: bool = switch("Find every independent set of polluters.", behind=True)
    jobs: int | None = single(
        COUNT, "Runs at once; more than 1 without a lock only.", short="-j", key="run.jobs", behind=True
    )
    resume: bool = switch("Go on with the last interrupted bisection of TARGET.", behind=True, passing=True)
    resume_from: Path | None = single(
        PATH, "Go on with the bisection of this evidence folder.", metavar="FOLDER", behind=True, passing=True
    )
    orders: "tuple[OrderKind, ...] | None" = single(
        PLAIN_ORDERS, "Orders without a seed, or none (default: all that the framework has of {orders}).", behind=True
    )
    seeds: tuple[int, ...] | None = single(
        SEEDS, "Then the rand orders of these seeds, or none (default: 1..20).", behind=True
    )
    no_prefix: bool = switch("Do not look for the shortest red prefix.", behind=True)
    format: str | None = single(NAME, "How the report is printed: {formats}.", passing=True)
    json: bool = switch("Print the report as JSON: --format json.", passing=True)
    dry_run: bool = switch("Print the plan; run nothing.", passing=True)
    quiet: bool = switch("No progress.", short="-q", passing=True)
    words: tuple[tuple[str, str], ...] = ()

    def over(self, beneath: "Options") -> "Options":
        """Lay these over others: what is said here replaces what is said there, or goes behind it."""
        kept = (pair for pair in beneath.words if OPTIONS[pair[0]].adds or not self.says(pair[0]))
        return options_with({name: self._over(name, beneath) for name in OPTIONS}, (*kept, *self.words))

    def _over(self, name: str, beneath: "Options") -> object:
        here, there = getattr(self, name), getattr(beneath, name)
        if OPTIONS[name].adds:
            return (*there, *here)
        return here if self.says(name) else there

    def says(self, name: str) -> bool:
        """Say whether anything is said of a field; no paths at all (`paths = []`) is something."""
        return getattr(self, name) not in (_DEFAULTS[name], "")

    def without(self, names: Collection[str]) -> "Options":
        """Say nothing of these fields."""
        values = {name: getattr(self, name) for name in OPTIONS if name not in names}
        return options_with(values, (pair for pair in self.words if pair[0] not in names))


def options_with(values: Mapping[str, object], words: Iterable[tuple[str, str]] = ()) -> Options:
    """Return options of values that were read, by the names of their fields."""
    return _make(**values, words=tuple(sorted(words, key=lambda pair: _PLACES[pair[0]])))


def read_texts(
    options: Iterable[Option], texts: Texts, *, hint: str | None = None
) -> tuple[dict[str, object], tuple[tuple[str, str], ...]]:
    """Read what was typed into values, and into words that say the same, one for each value."""
    values: dict[str, object] = {}
    words: list[tuple[str, str]] = []
    for option in options:
        if (given := texts.get(option.name)) is None:
            continue
        if option.kind is None:
            values[option.name] = given
            words.append((option.name, option.flag if given or option.off is None else option.off))
            continue
        several = [given] if isinstance(given, str) else given
        read = tuple(_value(option, option.kind, text, hint) for text in several)
        values[option.name] = read if option.many else read[-1]
        words += [(option.name, f"{option.flag}={text}") for text in several if option.flag]
    return values, tuple(words)


def _value(option: Option, kind: ValueKind[object], text: str, hint: str | None) -> object:
    try:
        return kind.word(text, option.flag)
    except UnexpectedError as error:
        raise UsageError(f"invalid value for {option.flag!r}: {text!r} is not {error}", hint=hint) from error


_make: Callable[..., Options] = Options

OPTIONS = options_of(Options)
_PLACES = {name: place for place, name in enumerate(OPTIONS)}
_DEFAULTS = {entry.name: entry.default for entry in fields(Options)}
