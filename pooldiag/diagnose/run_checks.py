"""What must hold before a run and after it: the user's own commands, fixtures, the target, the disk."""

from dataclasses import replace
from pathlib import Path

from pooldiag.diagnose.processes import run_process
from pooldiag.diagnose.time_limits import TimeLimits
from pooldiag.diagnose.tools import Tools
from pooldiag.errors import BlockedError
from pooldiag.model.outcomes import Outcome, Silence, SilenceKind
from pooldiag.model.runs import Ending, RunRequest
from pooldiag.model.settings import AttributeSettings

_SIGBUS = 7  # what a write to a mapping of a full tmpfs ends with
_NOTHING_TO_BUILD = (b"no work to do", b"nothing to be done", b"up to date")  # ninja; make; make and others
_CHANGED = "the binary or one of its libraries changed between two runs"


class RunChecks:
    """Compares the target, its fixtures and its directory with what they were when the diagnosis began."""

    def __init__(self, settings: AttributeSettings, tools: Tools, limits: TimeLimits) -> None:
        """Look at the target and its directory as they are now."""
        self._settings = settings
        self._ports = tools.ports
        self._limits = limits
        self.fingerprint = tools.ports.files.fingerprint()
        tools.ports.files.changes()  # what the first run changes is seen against this

    def prepare(self, run: str) -> None:
        """Check what every run needs, and run the user's own commands; anything but success raises BlockedError."""
        problem = self._ports.files.unreadable(self._settings.requires)
        if problem is not None:
            raise BlockedError(problem, hint="make it readable: without it a case can skip, which looks like a repair")
        if self._settings.fresh_check:
            self._check_freshness(f"{run}/fresh-check")
        if self._settings.before:
            self._help(f"{run}/before", self._settings.before, "--before")

    def require_unchanged(self) -> None:
        """Raise BlockedError when the target is not what it was at the first run."""
        if self._ports.files.fingerprint() != self.fingerprint:
            raise BlockedError(_CHANGED, hint="run the command again on the new one")

    def checked(self, outcome: Outcome) -> Outcome:
        """Silence a run after which the target, a fixture or the disk is not what it was before."""
        completed, files = outcome.completed, self._ports.files
        on_full_disk = completed.ending is Ending.SIGNALLED and completed.signal == _SIGBUS
        found = (
            (SilenceKind.CHANGED, _CHANGED if files.fingerprint() != self.fingerprint else None),
            (SilenceKind.CHANGED, files.unreadable(self._settings.requires)),
            (SilenceKind.SPACE, self._ports.disk.full() if on_full_disk else None),
        )
        silences = (Silence(kind=kind, text=text) for kind, text in found if text is not None)
        changed = files.changes()
        notes = (f"changed in the working directory: {', '.join(changed)}",) if changed else ()
        return replace(outcome, found_silent=(*outcome.found_silent, *silences), notes=(*outcome.notes, *notes))

    def _check_freshness(self, run: str) -> None:
        folder, words = self._help(run, self._settings.fresh_check, "--fresh-check")
        if words.strip() and not any(quiet in words for quiet in _NOTHING_TO_BUILD):
            raise BlockedError(
                f"--fresh-check {self._settings.fresh_check[0]} finds something to build",
                hint=f"build first; its output is in {folder}",
            )

    def _help(self, run: str, argv: tuple[str, ...], option: str) -> tuple[Path, bytes]:
        """Run a command of the user's; return its folder, and what it wrote to stdout, in small letters."""
        folder = self._ports.evidence.run_folder(run)
        directory = self._settings.target.directory
        completed = run_process(
            RunRequest(argv=argv, directory=directory, folder=folder, limits=self._limits.of()), self._ports
        )
        if completed.ending is not Ending.EXITED or completed.exit_code != 0:
            raise BlockedError(f"{option} {argv[0]} ended with {completed.words}", hint=f"its output is in {folder}")
        return folder, b"\n".join(self._ports.files.lines(completed.stdout)).lower()
