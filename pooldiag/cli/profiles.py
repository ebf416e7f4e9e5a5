"""`pooldiag profiles`: which allocators are known, and all that is known of one."""

from dataclasses import dataclass

from pooldiag.cli.parser import Subcommand
from pooldiag.cli.streams import form_of, say_report
from pooldiag.config.kinds import NAME
from pooldiag.config.options import Option, options_of, single, switch
from pooldiag.errors import ExitCode, UsageError
from pooldiag.model.words import nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfilesFlags:
    """What may be typed after `pooldiag profiles`."""

    name: str | None = None
    format: str | None = single(NAME, "How they are printed: {formats}.")
    json: bool = switch("Print JSON: --format json.")


def profiles(flags: ProfilesFlags) -> ExitCode:
    """List the allocators that pooldiag has switches for, or show one: its arms, what they set, and who says so."""
    from pooldiag.model.arms import ProfilesReport  # noqa: PLC0415 - `--help` does not need it
    from pooldiag.profiles import PROFILES  # noqa: PLC0415 - the same

    form = form_of(flags.format, json=flags.json)
    if flags.name is not None and flags.name not in PROFILES:
        hint = f"nearest: {nearest(flags.name, PROFILES)}; see `pooldiag profiles`"
        raise UsageError(f"no profile {flags.name!r}", hint=hint)
    chosen = tuple(PROFILES.values()) if flags.name is None else (PROFILES[flags.name],)
    report = ProfilesReport(profiles=chosen, whole=flags.name is not None)
    say_report(report, form)
    return ExitCode.GREEN


COMMAND = Subcommand(
    flags=ProfilesFlags,
    work=profiles,
    options=tuple(options_of(ProfilesFlags).values()),
    arguments=(Option("One profile, whole; without it all of them.", name="name", kind=NAME),),
)
