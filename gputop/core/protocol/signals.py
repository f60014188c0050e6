"""The signals of this machine: names, numbers, and what each is for."""

import signal
from typing import Final

from msgspec import Struct

from gputop.core.text.text import excerpt

TERM: Final = "SIGTERM"
KILL: Final = "SIGKILL"


class Known(Struct, frozen=True):
    """A signal of this machine, and what it is for."""

    number: int
    name: str
    help: str


_HELP: Final = {
    "SIGHUP": "terminal closed; daemons reload their configuration",
    "SIGINT": "interrupt, as Ctrl-C",
    "SIGQUIT": "quit with a core dump, as Ctrl-\\",
    "SIGILL": "illegal instruction",
    "SIGTRAP": "debugger trap",
    "SIGABRT": "abort with a core dump",
    "SIGBUS": "bad memory access",
    "SIGFPE": "arithmetic error",
    "SIGKILL": "end at once; the process cannot handle it or save anything",
    "SIGUSR1": "defined by the program; many jobs write a checkpoint",
    "SIGSEGV": "bad memory access",
    "SIGUSR2": "defined by the program",
    "SIGPIPE": "write to a pipe without a reader",
    "SIGALRM": "a timer expired",
    "SIGTERM": "end; the program may save first",
    "SIGSTKFLT": "stack fault; unused",
    "SIGCHLD": "a child process ended; usually ignored",
    "SIGCONT": "continue after SIGSTOP",
    "SIGSTOP": "stops the process, which cannot ignore it and keeps its memory",
    "SIGTSTP": "stop, as Ctrl-Z",
    "SIGTTIN": "background process reads the terminal",
    "SIGTTOU": "background process writes to the terminal",
    "SIGURG": "urgent data; usually ignored",
    "SIGXCPU": "CPU time limit; schedulers use it as a warning",
    "SIGXFSZ": "file size limit",
    "SIGVTALRM": "a CPU timer expired",
    "SIGPROF": "a profiling timer expired",
    "SIGWINCH": "terminal size changed; usually ignored",
    "SIGIO": "input or output is possible",
    "SIGPWR": "power failure",
    "SIGSYS": "bad system call",
}
SIGNALS: Final = tuple(
    sorted(
        (
            Known(int(number), name, help_text)
            for name, help_text in _HELP.items()
            if (number := getattr(signal, name, None)) is not None
        ),
        key=lambda known: known.number,
    )
)
_NUMBERS: Final = {known.name: known.number for known in SIGNALS} | {
    "SIGIOT": int(signal.SIGABRT), "SIGPOLL": int(signal.SIGIO), "SIGCLD": int(signal.SIGCHLD),
}  # fmt: skip


def signal_name(text: str) -> str:
    """Return SIGTERM for SIGTERM, sigterm, TERM and 15; SIGRTMIN+3 for that and its number.

    Raises ValueError that names the nearest signal.
    """
    word = text.strip().upper()
    if word.isdecimal() and (found := _named(int(word))):
        return found
    for name in (word, f"SIG{word}"):
        if name in _NUMBERS or _realtime(name) is not None:
            return name
    raise ValueError(f"no signal {excerpt(text)!r}{_nearest(word)}")


def signal_number(name: str) -> int:
    """Return the number that a signal has on this machine. Raises ValueError."""
    number = _NUMBERS.get(name, _realtime(name))
    if number is None:
        raise ValueError(f"no signal {excerpt(name)!r} on this machine")
    return number


def _named(number: int) -> str | None:
    for known in SIGNALS:
        if known.number == number:
            return known.name
    step = number - int(signal.SIGRTMIN)
    if 0 <= step <= signal.SIGRTMAX - signal.SIGRTMIN:
        return f"SIGRTMIN+{step}" if step else "SIGRTMIN"
    return None


def _realtime(name: str) -> int | None:
    """Return the number of SIGRTMIN, SIGRTMIN+n, SIGRTMAX-n and SIGRTMAX."""
    first, last = int(signal.SIGRTMIN), int(signal.SIGRTMAX)
    for base, sign, start in (("SIGRTMIN", "+", first), ("SIGRTMAX", "-", last)):
        step = name.removeprefix(base).removeprefix(sign)
        if name == base:
            return start
        if name == f"{base}{sign}{step}" and step.isdecimal() and int(step) <= last - first:
            return start + int(step) if sign == "+" else start - int(step)
    return None


def _nearest(word: str) -> str:
    from gputop.core.text.suggest import nearest  # noqa: PLC0415 - 8 ms, only for a mistake

    named = "" if word[:1].isdecimal() else word if word.startswith("SIG") else f"SIG{word}"
    near = nearest(named, [name.lower() for name in _NUMBERS])
    return f" (did you mean {near.upper()}?)" if near else ": SIGTERM, TERM and 15 are the same"
