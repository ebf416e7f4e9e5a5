"""An executor that looks at the disk and the memory before and after another one runs."""

from dataclasses import replace

from pooldiag.model.runs import Completed, Ending, RunRequest, Stream
from pooldiag.ports import Disk, Executor


class GuardedExecutor:
    """Any executor, behind the disk check (port `Executor`)."""

    def __init__(self, executor: Executor, disk: Disk) -> None:
        self._executor = executor
        self._disk = disk

    def execute(self, request: RunRequest) -> Completed:
        """Start nothing while something is under its floor; say when something is so afterwards."""
        if short := self._disk.shortage():
            return not_run(request, Ending.STOPPED, stopped_by=short, shortage=short)
        completed = self._executor.execute(request)
        return replace(completed, shortage=completed.shortage or self._disk.shortage())

    def restore(self) -> None:
        """Pass it on."""
        self._executor.restore()


def not_run(
    request: RunRequest, ending: Ending, *, stopped_by: str | None = None, shortage: str | None = None
) -> Completed:
    """Return how an execution ended that never began."""
    return Completed(
        ending=ending,
        stopped_by=stopped_by,
        shortage=shortage,
        seconds=0.0,
        stdout=Stream(path=request.folder / "stdout"),
        stderr=Stream(path=request.folder / "stderr"),
    )
