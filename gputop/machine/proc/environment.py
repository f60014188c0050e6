"""The environment of a process."""

from collections.abc import Collection

from gputop.machine.proc.procfs import Reader, read_memory
from gputop.machine.proc.stat import parse_lengths


def variables(proc: Reader, pid: int, names: Collection[str]) -> dict[str, str]:
    """Return variables from the environment with which a process was started. Raises OSError.

    A program that sets them later does not change /proc/PID/environ.
    """
    _, length = parse_lengths(proc.read(f"{pid}/stat"))
    entries = read_memory(proc, f"{pid}/environ", length).split(b"\0")
    pairs = (entry.decode("utf-8", "surrogateescape").partition("=") for entry in entries)
    return {name: value for name, equals, value in pairs if equals and name in names}
