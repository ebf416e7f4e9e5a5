"""Where a report will be read."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Where a report will be read: columns, whether color and characters beyond ASCII may be used, and the directory.

    Paths below the `directory` are shown relative to it.
    """

    width: int = 80
    color: bool = False
    unicode: bool = True
    directory: Path | None = None

    def near(self, path: Path) -> Path:
        """Return a path as one would type it in the directory."""
        directory = self.directory
        return path.relative_to(directory) if directory is not None and path.is_relative_to(directory) else path
