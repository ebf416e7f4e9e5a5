"""What may be typed after a command: its options as data, made into a command of Typer's, which splits words."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import update_wrapper
from inspect import Parameter, Signature
from typing import Annotated, Generic, TypeVar

import typer
from typer.core import TyperCommand, TyperOption
from typer.main import get_command

from pooldiag.cli.problems import in_one_line, require_directory
from pooldiag.cli.streams import complain
from pooldiag.config.options import Option, Texts, read_texts
from pooldiag.errors import ExitCode, UsageError

_F = TypeVar("_F")


class CommandOfTexts(TyperCommand):
    """A command whose values stay texts, as they were typed: Typer would import Pydantic to read them."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Keep what is typed; help and errors are Typer's own. The context's type is the only one that it exports."""
        try:
            texts, extra, _ = self.make_parser(ctx).parse_args([*args])
        except typer.TyperException as error:  # of which command is not always in it
            raise in_one_line(error, ctx.command_path) from error
        helps = "help" in texts or (self.no_args_is_help and not args)
        if helps:
            self._fill_in()
        if helps or extra or any(one.required and texts[one.name] is None for one in self.params):
            return super().parse_args(ctx, args)
        ctx.params = {name: text for name, text in texts.items() if text is not None}
        return []

    def _fill_in(self) -> None:
        """Fill in what registries know: for those who read help, and for nobody else."""
        from pooldiag.cli.help import filled_in  # noqa: PLC0415 - as said above

        for one in self.params:
            if isinstance(one, TyperOption):
                one.help = filled_in(one.help or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subcommand(Generic[_F]):
    """A command: `work` does it with `flags`, made of what was typed; its docstring is the help.

    `arguments` are options without a flag. `runs_target`: what follows the first of them is the target's own, but for
    options that may stand there.
    """

    flags: Callable[..., _F]
    work: Callable[[_F], ExitCode]
    options: tuple[Option, ...]
    arguments: tuple[Option, ...]
    runs_target: bool = False

    @property
    def name(self) -> str:
        """How it is typed."""
        return self.work.__name__

    @property
    def hint(self) -> str:
        """What to do about words that cannot be read."""
        return f"see pooldiag {self.name} --help"

    def made(self) -> TyperCommand:
        """Return the command that Typer makes of it."""

        def run(**texts: object) -> ExitCode:
            try:
                return self._run(texts)
            except KeyboardInterrupt:  # Typer would end without a word
                complain("pooldiag: interrupted\n")
                return ExitCode.INTERRUPTED

        update_wrapper(run, self.work)
        vars(run)["__signature__"] = Signature([*map(_parameter, (*self.arguments, *self.options))])
        alone = typer.Typer(add_completion=False)
        settings = {"allow_interspersed_args": not self.runs_target, "help_option_names": ["-h", "--help"]}
        registered = alone.command(
            self.name, cls=CommandOfTexts, context_settings=settings, no_args_is_help=self.runs_target
        )
        registered(run)
        command = get_command(alone)
        if not isinstance(command, CommandOfTexts):
            raise TypeError(command)
        return command

    def read(self, words: Sequence[str]) -> _F:
        """Return the flags that the words behind its name are."""
        return self._flags_of(self.texts(words))

    def texts(self, words: Sequence[str]) -> Texts:
        """Return what the words say, by the names of fields."""
        return self.made().make_context(f"pooldiag {self.name}", [*words]).params

    def _run(self, texts: Texts) -> ExitCode:
        flags = self._flags_of(texts)
        require_directory()
        return self.work(flags)

    def _flags_of(self, texts: Texts) -> _F:
        if self.runs_target:
            texts = self._with_options_behind(texts)
        values, words = read_texts((*self.arguments, *self.options), texts, hint=self.hint)
        return self.flags(**values, **({"words": words} if self.runs_target else {}))

    def _with_options_behind(self, texts: Texts) -> Texts:
        """Take the options that may stand behind TARGET, up to a `--`, from among the target's own words."""
        target, own = (argument.name for argument in self.arguments)
        behind = {flag: option for option in self.options if option.behind for flag in (option.flag, option.short)}
        taken: list[str] = []
        left: list[str] = []
        words = deque(texts.get(own) or ())
        while words and words[0] != "--":
            flag, given, _ = words[0].partition("=")
            option = behind.get(flag)
            (left if option is None else taken).append(words.popleft())
            if option is not None and option.kind is not None and not given:
                if not words:
                    raise UsageError(f"{flag}: its value is missing", hint=self.hint)
                taken.append(words.popleft())
        if not taken:
            return texts
        return {**texts, **self.texts([*taken, "--", texts[target]]), own: [*left, *words]}


def panel_of(options: Mapping[str, Option], title: str, *names: str, **helps: str) -> tuple[Option, ...]:
    """Return options that stand together in the help; `helps` has what a command says of one in its own words."""
    return tuple(replace(options[name], panel=title, help=helps.get(name, options[name].help)) for name in names)


def _parameter(option: Option) -> Parameter:
    """Return the parameter that Typer makes an option of, or an argument."""
    shown = None if option.kind is None else option.metavar or option.kind.metavar
    flags = [f"{option.flag}/{option.off}" if option.off else option.flag, *([option.short] if option.short else ())]
    declared = (
        typer.Option(*flags, help=option.help, metavar=shown, rich_help_panel=option.panel, envvar=option.variable)
        if option.flag
        else typer.Argument(help=option.help, metavar=shown)
    )
    kind = bool if option.kind is None else list[str] if option.many else str
    default = Parameter.empty if option.required else None
    return Parameter(option.name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind | None, declared])
