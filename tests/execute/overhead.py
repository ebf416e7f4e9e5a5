"""What a supervised run costs over the bare command, both in turn: `python -m tests.execute.overhead [COMMAND]...`."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from pooldiag.execute.disk import SystemDisk
from pooldiag.execute.guard import GuardedExecutor
from pooldiag.execute.supervision import SupervisedExecutor, Supervisor
from pooldiag.model.runs import RunLimits, RunRequest
from pooldiag.model.settings import Floors


@dataclass(frozen=True, slots=True, kw_only=True)
class Overhead:
    """Medians over all runs."""

    bare_seconds: float
    ours_seconds: float

    @property
    def added_seconds(self) -> float:
        """What each run costs more."""
        return self.ours_seconds - self.bare_seconds

    @property
    def ratio(self) -> float:
        """How many times the bare command a run takes."""
        return self.ours_seconds / self.bare_seconds


def measure(argv: tuple[str, ...], *, runs: int = 100) -> Overhead:
    """Run a command barely and through guard and supervisor, turn by turn: what slows one slows the other."""
    with TemporaryDirectory() as name, Supervisor() as supervisor:
        folder = Path(name)
        disk = SystemDisk(evidence=folder, target=folder, floors=Floors(disk_bytes=0, memory_bytes=0))
        executor = GuardedExecutor(SupervisedExecutor(supervisor, disk.watched), disk)
        numbers = count()

        def ours() -> None:
            run = folder / str(next(numbers))
            run.mkdir()
            limits = RunLimits(timeout_seconds=60)
            executor.execute(RunRequest(argv=argv, directory=folder, folder=run, report=run / "report", limits=limits))

        def bare() -> None:
            with (folder / "bare").open("wb") as out:
                subprocess.run(argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False)

        pairs = [(_seconds(bare), _seconds(ours)) for _ in range(runs)]
    return Overhead(bare_seconds=median(pair[0] for pair in pairs), ours_seconds=median(pair[1] for pair in pairs))


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    """Print the figures of one command."""
    found = measure(tuple(sys.argv[1:]) or ("true",))
    sys.stdout.write(
        f"bare {found.bare_seconds * 1000:.2f} ms, ours {found.ours_seconds * 1000:.2f} ms:"
        f" {found.added_seconds * 1000:+.2f} ms, {found.ratio:.3f} times\n"
    )


if __name__ == "__main__":
    main()
