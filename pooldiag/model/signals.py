"""Signal names as a table, so that the core needs no `signal` module and reads any machine's report alike."""

SIGNAL_NAMES: dict[int, str] = {
    1: "SIGHUP",
    2: "SIGINT",
    3: "SIGQUIT",
    4: "SIGILL",
    5: "SIGTRAP",
    6: "SIGABRT",
    7: "SIGBUS",
    8: "SIGFPE",
    9: "SIGKILL",
    10: "SIGUSR1",
    11: "SIGSEGV",
    12: "SIGUSR2",
    13: "SIGPIPE",
    14: "SIGALRM",
    15: "SIGTERM",
    24: "SIGXCPU",
    25: "SIGXFSZ",
    31: "SIGSYS",
}
"""Linux numbers on x86-64 and AArch64 (signal(7)); real-time signals are named by number."""

_SHELL_BASE = 128  # a shell, flock or container between reports a signal n as exit code 128 + n


def signal_name(number: int) -> str:
    """Name a signal: `SIGSEGV` for 11, `signal 40` for one without a name here."""
    return SIGNAL_NAMES.get(number, f"signal {number}")


def signal_of_exit_code(exit_code: int) -> int | None:
    """Read a shell's 128+n as signal n; None when the exit code is not of that form."""
    number = exit_code - _SHELL_BASE
    return number if number in SIGNAL_NAMES else None
