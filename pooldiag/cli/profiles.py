"""`pooldiag profiles`: which allocators are known, and all that is known of one."""

from dataclasses import dataclass

from pooldiag.cli.parser import Argument, Subcommand
from pooldiag.cli.streams import JSON, form_of
from pooldiag.config.kinds import NAME
from pooldiag.config.options import options_of, single, switch
from pooldiag.errors import ExitCode


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfilesFlags:
    """What may be typed after `pooldiag profiles`."""

    name: str | None = None
    format: str | None = single(NAME, "How they are printed: {formats}.")
    json: bool = switch("Print JSON: --format json.")


def profiles(flags: ProfilesFlags) -> ExitCode:
    """List the allocators that pooldiag has switches for, or show one: its arms, what they set, and who says so."""
    from pooldiag.cli.profile_sheets import show  # noqa: PLC0415 - `--help` does not need it

    show(flags.name, as_json=form_of(flags.format, json=flags.json) == JSON)
    return ExitCode.GREEN


COMMAND = Subcommand(
    flags=ProfilesFlags,
    work=profiles,
    options=tuple(options_of(ProfilesFlags).values()),
    arguments=(Argument(name="name", metavar="NAME", help="One profile, whole; without it all of them."),),
)
