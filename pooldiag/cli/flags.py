"""The flags of a command as they were typed, and the words to suggest a further one with."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from pooldiag.model.cases import OrderKind

_NOT_REPEATED = {"target", "arguments", "json", "dry_run", "quiet"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeFlags:
    """What was typed after `pooldiag attribute`; None, empty and False: not given."""

    target: str
    arguments: tuple[str, ...] = ()
    order: OrderKind | None = None
    seed: int | None = None
    case: tuple[str, ...] = ()
    victim: str | None = None
    framework: str | None = None
    cwd: Path | None = None
    before: str | None = None
    keep_env: tuple[str, ...] = ()
    profile: str | None = None
    arm: tuple[str, ...] = ()
    stats: str | None = None
    counter: tuple[str, ...] = ()
    arms: str | None = None
    confidence: float | None = None
    budget: str | None = None
    max_runs: int | None = None
    repeat: int | None = None
    outputs: tuple[str, ...] = ()
    requires: tuple[Path, ...] = ()
    fresh_check: str | None = None
    timeout: str | None = None
    grace: str | None = None
    lock: tuple[Path, ...] = ()
    no_lock: bool = False
    lock_wait: str | None = None
    disk_floor: str | None = None
    memory_floor: str | None = None
    need: str | None = None
    config: Path | None = None
    json: bool = False
    dry_run: bool = False
    quiet: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The options as words, `--name=value` each; without those that only say how the report is shown."""
        return tuple(
            word for entry in fields(self) if entry.name not in _NOT_REPEATED for word in self._word(entry.name)
        )

    def _word(self, name: str) -> Iterator[str]:
        option = f"--{name.replace('_', '-')}"
        value = getattr(self, name)
        if value is True:
            yield option
        elif value is not None and value is not False:
            for one in value if isinstance(value, tuple) else (value,):
                yield f"{option}={one}"
