"""What the commands in this folder know of the checkout: where it is, its environment, and pooldiag in that."""

import os
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


def go_on_in_checkout_environment() -> None:
    """Start this program again with the python of the checkout's environment, where there is one."""
    environment = CHECKOUT / ".venv"
    python = environment / "bin" / "python"
    if python.exists() and Path(sys.prefix).resolve() != environment:
        os.execv(python, [str(python), *sys.argv])  # noqa: S606 - an argument list, as everywhere


def console_script() -> Path:
    """Return the installed command."""
    path = Path(sys.executable).parent / "pooldiag"
    if not path.exists():
        raise SystemExit(f"scripts/{Path(sys.argv[0]).name}: there is no {path}: run scripts/setup")
    return path
