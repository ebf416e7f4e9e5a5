"""Every port of the core, in memory, and what a test does to them."""

import io
import shlex
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO

from pooldiag.diagnose.tools import TargetFacts, Tools
from pooldiag.errors import BlockedError, LockTimeoutError, RunLostError
from pooldiag.execute.guard import GuardedExecutor
from pooldiag.frameworks.base import Framework
from pooldiag.model.events import Event
from pooldiag.model.outcomes import Outcome
from pooldiag.model.reports import LockReport, MachineReport, TargetReport
from pooldiag.model.runs import Completed, Ending, RunRequest, Stream
from pooldiag.ports import Ports
from tests.played.framework import Asked, PlayedFramework, asked_by, listing_of
from tests.played.suite import OUTPUT_FILE, Play, PlayedSuite

HOME, EVIDENCE, TARGET = Path("/home"), Path("/home/evidence"), Path("/home/suite")
Hook = Callable[["World"], None]


class KilledError(BaseException):
    """The diagnosis is killed here: nothing that it does from now on has any effect."""


def _nothing(_: Mapping[str, str]) -> Mapping[str, bytes]:
    """Write no output."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Began:
    """A run that began."""

    run: str
    key: tuple[str, int]
    boot: int


@dataclass(slots=True)
class PlayedMemo:
    """Finished runs, as long as whoever writes them is alive (port `Memo`).

    `dies_at` kills the diagnosis when so many runs `began` or were `finished`.
    """

    began: list[Began] = field(default_factory=list)
    finished_runs: list[tuple[tuple[str, int], Outcome]] = field(default_factory=list)
    over: set[str] = field(default_factory=set)  # runs that were finished or given up
    boot: int = 1
    dies_at: tuple[str, int] | None = None
    is_dead: bool = False
    done_before: int = 0

    def done(self) -> int:
        return self.done_before

    def recall(self, key: str, repeat: int) -> Outcome | None:
        return dict(self.finished_runs).get((key, repeat))

    def lost(self, key: str, repeat: int) -> tuple[str, ...]:
        return tuple(one.run for one in self.began if one.key == (key, repeat) and one.run not in self.over)

    def died_with_machine(self, run: str) -> bool:
        return any(one.run == run and one.boot != self.boot for one in self.began)

    def started(self, run: str, key: str, repeat: int) -> None:
        if not self.is_dead:
            self.began.append(Began(run=run, key=(key, repeat), boot=self.boot))
            self._perhaps_die("began", len(self.began))

    def given_up(self, run: str) -> None:
        if not self.is_dead:
            self.over.add(run)

    def finished(self, key: str, repeat: int, outcome: Outcome) -> None:
        if not self.is_dead:
            self.over.add(outcome.run)
            self.finished_runs.append(((key, repeat), outcome))
            self._perhaps_die("finished", len(self.finished_runs))

    def _perhaps_die(self, what: str, count: int) -> None:
        if self.dies_at == (what, count):
            self.is_dead = True
            raise KilledError


@dataclass(slots=True)
class World:
    """A played target and all that is around it, as one process of pooldiag finds it. It is every port at once.

    `hooks` are called before the target's runs of these numbers, from 1; listings do not count. `commands` are the
    user's own, by their first word, and what they print; one that is missing fails. `short_of`, `full_of` and `needed`
    are what the disk says, `missing` what is said of a required file, `built` is which build of the target it is.
    """

    suite: PlayedSuite
    framework: Framework = field(default_factory=PlayedFramework)
    hooks: Mapping[int, Hook] = field(default_factory=dict)
    commands: dict[str, str] = field(default_factory=dict)
    text: str = ""  # what every run prints
    written: Callable[[Mapping[str, str]], Mapping[str, bytes]] = _nothing  # into its output folder, by its variables
    short_of: str | None = None
    full_of: str | None = None
    needed: str | None = None
    held_by_others: bool = False
    is_interrupted: bool = False
    missing: str | None = None
    built: str = "1"
    memo: PlayedMemo = field(default_factory=PlayedMemo)
    facts: Mapping[str, object] = field(default_factory=dict)
    now: float = 0.0
    path: Path = EVIDENCE
    content: dict[Path, bytes] = field(default_factory=dict)
    new: list[str] = field(default_factory=list)  # what of it was not there before
    changed: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    requests: list[RunRequest] = field(default_factory=list)
    ran: list[tuple[str, ...]] = field(default_factory=list)  # the cases that each process began
    made: set[Path] = field(default_factory=set)  # folders for the state of runs
    dropped: list[str] = field(default_factory=list)
    is_locked: bool = False
    restored: int = 0
    first_number: int = 0
    one_at_a_time: threading.Lock = field(default_factory=threading.Lock)

    @property
    def tools(self) -> Tools:
        """What a command is wired with."""
        ports = Ports(
            executor=GuardedExecutor(self, self),
            lock=self,
            disk=self,
            files=self,
            evidence=self,
            memo=self.memo,
            clock=self,
            progress=self,
        )
        facts = TargetFacts(
            report=TargetReport(argv=("./suite",), directory=HOME, framework=self.framework.name),
            machine=MachineReport(host="here", system="Linux", cpus=2, memory_bytes=2**30),
            names=self.suite.cures | self.suite.breaks | self.suite.crashes,
            searchable=True,
            closed=True,
        )
        return Tools(ports=ports, framework=self.framework, facts=replace(facts, **self.facts))  # type: ignore[arg-type] # the test's own fields

    def after_a_kill(self) -> "World":
        """What the next pooldiag finds: the same target and files, and what was finished."""
        began = [*self.memo.began]
        memo = replace(self.memo, dies_at=None, is_dead=False, done_before=len(self.memo.finished_runs), began=began)
        numbers = [int(one.run.partition("-")[0]) for one in began]
        return replace(
            self, memo=memo, events=[], is_locked=False, is_interrupted=False, first_number=max(numbers, default=0)
        )

    # --- the executor

    def execute(self, request: RunRequest) -> Completed:
        with self.one_at_a_time:
            return self._execute(request)

    def _execute(self, request: RunRequest) -> Completed:
        self.requests.append(request)
        self.now += self.suite.seconds
        if self.is_interrupted:
            return self._completed(request, Play(lines=(), ending=Ending.INTERRUPTED, exit_code=None))
        if request.argv[0] == str(TARGET):
            return self._call(request, request.argv[1:], dict(request.environment.set))
        if request.argv[0] != "sh":
            return self._type(request, shlex.join(request.argv))
        _, _, line, *behind = request.argv
        return self._type(request, line.replace('"$@"', shlex.join(behind[1:])))

    def restore(self) -> None:
        self.restored += 1

    def _type(self, request: RunRequest, line: str) -> Completed:
        """Run a line as a shell does: commands behind each other, as long as each of them succeeds."""
        done = self._completed(request, Play(lines=()))
        for words in _commands(line):
            variables = dict(word.split("=", 1) for word in _variables(words))
            program, *rest = words[1 + len(variables) :] if variables else words
            if program in {"./suite", str(TARGET)}:
                done = self._call(request, tuple(rest), variables)
            elif program != "cd":
                known = self.commands.get(program)
                done = self._completed(request, Play(lines=(), exit_code=1 if known is None else 0), known or "")
            if done.exit_code != 0:
                break
        return done

    def _call(self, request: RunRequest, words: tuple[str, ...], variables: Mapping[str, str]) -> Completed:
        asked = asked_by(words)
        if asked.listing is not None:
            self.content[asked.listing] = listing_of(asked.cases(self.suite.listed))
            return self._completed(request, Play(lines=()))
        return self._run(request, asked, variables)

    def _run(self, request: RunRequest, asked: Asked, variables: Mapping[str, str]) -> Completed:
        if hook := self.hooks.get(len(self.ran) + 1):
            hook(self)
        play = self.suite.play(asked.cases(self.suite.listed), variables)
        began: list[str] = []
        for line in play.lines:
            if line.startswith("begin "):
                began.append(line.removeprefix("begin "))
                self.now += self.suite.seconds
            if asked.report is not None:
                self.content[asked.report] = self.content.get(asked.report, b"") + f"{line}\n".encode()
                request.on_report(f"{line}\n".encode())
                if request.enough():
                    play = Play(lines=(), ending=Ending.ENOUGH, exit_code=None)
                    break
        self.ran.append(tuple(began))
        outputs = {} if play.output is None else {OUTPUT_FILE: play.output}
        if (folder := variables.get("POOLDIAG_OUTPUT_DIR")) is not None:
            outputs |= self.written(variables)
            self.content |= {Path(folder) / name: data for name, data in outputs.items()}
        if self.is_interrupted:
            play = replace(play, ending=Ending.INTERRUPTED)
        if play.kills:
            self.is_locked = False
            raise RunLostError("what starts the runs was killed")
        return self._completed(request, play, self.text)

    def _completed(self, request: RunRequest, play: Play, text: str = "") -> Completed:
        stdout = request.folder / "stdout"
        self.content[stdout] = text.encode()
        timed_out = play.ending is Ending.TIMED_OUT
        return Completed(
            ending=play.ending,
            exit_code=play.exit_code if play.ending is Ending.EXITED else None,
            signal=play.signal,
            seconds=request.limits.timeout_seconds if timed_out else self.suite.seconds,
            stdout=Stream(path=stdout, size_bytes=len(text)),
            stderr=Stream(path=request.folder / "stderr"),
        )

    # --- the lock

    @contextmanager
    def hold(self) -> Iterator[None]:
        if self.held_by_others:
            raise LockTimeoutError("gpu.lock is still held after 1 s")
        self.is_locked = True
        try:
            yield
        finally:
            self.is_locked = False

    def retake(self) -> None:
        assert self.restored
        self.is_locked = True

    def report(self) -> LockReport | None:
        return LockReport(paths=(HOME / "gpu.lock",))

    # --- the disk

    def shortage(self) -> str | None:
        return self.short_of

    def full(self) -> str | None:
        return self.full_of

    def check_need(self) -> None:
        if self.needed is not None:
            raise BlockedError(self.needed, hint="free space there")

    def free_bytes(self) -> int:
        return 2**30

    # --- the files and the evidence

    def lines(self, stream: Stream) -> Iterator[bytes]:
        return iter(self.content.get(stream.path, b"").splitlines())

    def matches(self, folder: Path, glob: str) -> tuple[Path, ...]:
        below = (path for path in self.content if path.is_relative_to(folder))
        return tuple(sorted(path for path in below if fnmatchcase(str(path.relative_to(folder)), glob)))

    def open(self, path: Path) -> BinaryIO:
        return io.BytesIO(self.content[path])

    def read(self, path: Path) -> bytes:
        return self.content.get(path, b"")

    def fingerprint(self) -> tuple[str, ...]:
        return (self.built,)

    def unreadable(self, paths: tuple[Path, ...]) -> str | None:
        return self.missing if paths else None

    def appeared(self) -> tuple[str, ...]:
        return tuple(self.new)

    def changes(self) -> tuple[str, ...]:
        changed, self.changed = tuple(self.changed), []
        return changed

    def run_folder(self, run: str) -> Path:
        return self.path / run

    def runs_there(self) -> int:
        return self.first_number

    def put(self, path: Path, content: bytes) -> None:
        self.content[path] = content

    def state_folder(self, run: str, folders: Iterable[str]) -> Path:
        self.made |= {self.path / run / "state" / folder for folder in folders}
        return self.path / run / "state"

    def drop_state(self, run: str) -> None:
        state = self.path / run / "state"
        self.suite.kept = {path for path in self.suite.kept if not Path(path).is_relative_to(state)}
        self.made = {path for path in self.made if not path.is_relative_to(state)}

    def drop_outputs(self, run: str) -> None:
        self.dropped.append(run)

    # --- the clock and whoever watches

    def monotonic(self) -> float:
        return self.now

    def notice(self, event: Event) -> None:
        self.events.append(event)


def interrupt(world: World) -> None:
    """Press Ctrl-C now: the run that goes on is ended."""
    world.is_interrupted = True


def _commands(line: str) -> Iterator[list[str]]:
    words: list[str] = []
    for word in [*shlex.split(line), "&&"]:
        if word == "&&":
            yield words
            words = []
        else:
            words.append(word)


def _variables(words: list[str]) -> list[str]:
    """Return what `env` sets, in front of the program."""
    if words[0] != "env":
        return []
    end = next(number for number, word in enumerate(words[1:], 1) if "=" not in word or word.startswith("-"))
    return words[1:end]
