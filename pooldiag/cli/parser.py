"""What may be typed after a command, and the one reader of such words, wherever they stand."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Generic, TypeVar

from pooldiag.cli.app import HELP
from pooldiag.config.kinds import ValueKind
from pooldiag.config.options import Option
from pooldiag.errors import ExitCode, UsageError
from pooldiag.toml_tables import UnexpectedError

_F = TypeVar("_F")


class HelpAskedError(Exception):
    """The words ask for the help of the command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """Words that are not options, by the name of their field."""

    name: str
    metavar: str
    help: str
    many: bool = False
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Subcommand(Generic[_F]):
    """A command: `work` does it with `flags`, made of what was typed; its docstring is the help.

    `runs_target`: what follows the first argument is the target's own, but for options that may stand there.
    """

    flags: Callable[..., _F]
    work: Callable[[_F], ExitCode]
    options: tuple[Option, ...]
    arguments: tuple[Argument, ...]
    runs_target: bool = False

    @property
    def name(self) -> str:
        """How it is typed."""
        return self.work.__name__

    def read(self, words: Sequence[str]) -> _F:
        """Return the flags that the words behind its name are."""
        reader = WordReader(self.options, words, hint=f"see pooldiag {self.name} --help")
        others = reader.take_options(among=not self.runs_target)
        values: dict[str, object] = {}
        for argument in self.arguments:
            if argument.many:
                values[argument.name], others = tuple(others), []
            elif others:
                values[argument.name] = others.pop(0)
            elif argument.required:
                raise UsageError(f"missing argument {argument.metavar!r}", hint=reader.hint)
            if self.runs_target and not argument.many:
                others = reader.take_options_behind(others)
        if others:
            raise UsageError(f"got unexpected extra argument(s) ({' '.join(others)})", hint=reader.hint)
        typed = {"words": tuple(reader.words)} if self.runs_target else {}
        return self.flags(**values | reader.values | typed)


def panel_of(options: Mapping[str, Option], title: str, *names: str, **helps: str) -> tuple[Option, ...]:
    """Return options that stand together in the help; `helps` has what a command says of one in its own words."""
    return tuple(replace(options[name], panel=title, help=helps.get(name, options[name].help)) for name in names)


class WordReader:
    """Reads words into values, by the names of fields; `words` say the same, one for each value."""

    def __init__(self, options: Iterable[Option], words: Iterable[str], *, hint: str | None = None) -> None:
        self.hint = hint
        self.values: dict[str, object] = {}
        self.words: list[tuple[str, str]] = []
        self._flags = {flag: option for option in options for flag in (option.flag, option.short, option.off) if flag}
        self._rest = deque(words)

    def take_options(self, *, among: bool) -> list[str]:
        """Take options up to the first other word, or from among the others; return the others, and the rest."""
        others: list[str] = []
        while self._rest and (among or not others):
            word = self._rest.popleft()
            if word == "--":
                break
            if len(word) > 1 and word.startswith("-"):
                self._take(word)
            else:
                others.append(word)
        return [*others, *self._rest]

    def take_options_behind(self, words: Iterable[str]) -> list[str]:
        """Take the options that may stand behind TARGET, up to a `--`; return all other words."""
        others: list[str] = []
        self._rest = deque(words)
        while self._rest:
            word = self._rest.popleft()
            option = self._flags.get(word.partition("=")[0])
            if word == "--":
                return [*others, word, *self._rest]
            if option is None or not option.behind:
                others.append(word)
            elif option.kind is not None and "=" not in word and not self._rest:
                raise UsageError(f"{word}: its value is missing", hint=self.hint)
            else:
                self._take(word)
        return others

    def _take(self, word: str) -> None:
        if not word.startswith("--"):
            self._take_short(word)
            return
        flag, given, text = word.partition("=")
        self._read(flag, text if given else None)

    def _take_short(self, word: str) -> None:
        """Take `-q`, `-j2`, `-qj 2`."""
        for place, letter in enumerate(word[1:], start=2):
            flag = f"-{letter}"
            if (option := self._flags.get(flag)) is not None and option.kind is not None:
                self._read(flag, word[place:] or None)
                return
            self._read(flag, None)

    def _read(self, flag: str, text: str | None) -> None:
        if flag in HELP:
            raise HelpAskedError
        option = self._flags.get(flag)
        if option is None:
            raise UsageError(f"no such option: {flag}{self._meant(flag)}", hint=self.hint)
        if option.kind is not None:
            if text is None and not self._rest:
                raise UsageError(f"option {flag!r} requires an argument", hint=self.hint)
            self._read_value(option, option.kind, self._rest.popleft() if text is None else text)
        elif text is not None:
            raise UsageError(f"option {flag!r} does not take a value", hint=self.hint)
        else:
            self._keep(option, flag != option.off, flag)

    def _read_value(self, option: Option, kind: ValueKind[object], text: str) -> None:
        try:
            value = kind.word(text, option.flag)
        except UnexpectedError as error:
            problem = f"invalid value for {option.flag!r}: {text!r} is not {error}"
            raise UsageError(problem, hint=self.hint) from error
        self._keep(option, value, f"{option.flag}={text}")

    def _keep(self, option: Option, value: object, word: str) -> None:
        """Keep a value; of an option that has one, the last that is given."""
        before = self.values.get(option.name, ())
        if option.many and isinstance(before, tuple):
            self.values[option.name] = (*before, value)
        else:
            self.values[option.name] = value
            self.words = [pair for pair in self.words if pair[0] != option.name]
        self.words.append((option.name, word))

    def _meant(self, flag: str) -> str:
        """Name the options that were perhaps meant."""
        meant = get_close_matches(flag, [known for known in self._flags if known.startswith("--")])
        return f" (Possible options: {', '.join(meant)})" if meant and flag.startswith("--") else ""
