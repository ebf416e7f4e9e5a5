"""Several runs at a time."""

from collections.abc import Iterable
from queue import SimpleQueue

from pooldiag.errors import RunLostError
from pooldiag.model.runs import Completed, RunRequest
from pooldiag.ports import Executor


class PooledExecutor:
    """As many runs at a time as it has executors, asked from as many threads (port `Executor`)."""

    def __init__(self, executors: Iterable[Executor]) -> None:
        """Take the executors, each with a supervisor of its own."""
        self._free: SimpleQueue[Executor] = SimpleQueue()
        for executor in executors:
            self._free.put(executor)

    def execute(self, request: RunRequest) -> Completed:
        """Run on the first executor that is free; one that lost its run is restored before the next."""
        executor = self._free.get()
        try:
            return executor.execute(request)
        except RunLostError:
            executor.restore()
            raise
        finally:
            self._free.put(executor)

    def restore(self) -> None:
        """Do nothing: a lost executor is whole again before anybody else can get it."""
