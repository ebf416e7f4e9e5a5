"""Errors that a user can act on, and the exit codes."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What `pooldiag` exits with."""

    GREEN = 0
    ESTABLISHED = 1
    USAGE = 2
    UNRESOLVED = 3
    BLOCKED = 4
    BUG = 70
    INTERRUPTED = 130


class PooldiagError(Exception):
    """A problem with its value, in one line, and a hint with the next thing to do."""

    exit_code = ExitCode.USAGE

    def __init__(self, problem: str, *, hint: str | None = None) -> None:
        """Take the problem (what is wrong, with the value) and the hint."""
        super().__init__(problem)
        self.problem = problem
        self.hint = hint


class UsageError(PooldiagError):
    """The command line, the configuration or an input file cannot be used as given."""


class BlockedError(PooldiagError):
    """The runs cannot be made, or say nothing: no lock, no space, a fixture that cannot be read."""

    exit_code = ExitCode.BLOCKED


class LockTimeoutError(BlockedError):
    """The lock was not free within the wait; nothing ran."""


class RunLostError(BlockedError):
    """What starts the runs was killed while one went on; that run was ended with it.

    `Executor.restore` makes the next run possible. The lock is gone and must be taken again.
    """


class InterruptedRunError(PooldiagError):
    """The user ended the diagnosis; what is known so far was saved."""

    exit_code = ExitCode.INTERRUPTED
