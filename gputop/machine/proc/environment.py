"""The environment of a process."""

from collections.abc import Collection

from gputop.machine.proc.procfs import Reader


def variables(proc: Reader, pid: int, names: Collection[str]) -> dict[str, str]:
    """Return variables from the environment with which a process was started. Raises OSError.

    A program that sets them later does not change /proc/PID/environ.
    """
    pairs = (
        entry.decode("utf-8", "surrogateescape").partition("=") for entry in proc.read(f"{pid}/environ").split(b"\0")
    )
    return {name: value for name, equals, value in pairs if equals and name in names}
