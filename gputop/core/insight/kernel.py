"""Where processes are in the kernel: state, wait channel and system call of their main threads."""

from typing import Final

from msgspec import Struct

_STATES: Final = {
    "R": "running", "S": "sleeping", "D": "blocked in the kernel", "T": "stopped", "t": "stopped by a debugger",
    "Z": "exited, not yet collected by its parent", "I": "idle", "X": "exited",
}  # fmt: skip
_PLACES: Final = {"R": "user space, running", "S": "the kernel, sleeping", "D": "the kernel, blocked"}


class KernelPlace(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The main thread of a process.

    ``state``: a letter of /proc, empty if unread. ``wait_channel``: the kernel function in which it sleeps.
    ``system_call``: its name. Both are empty if there is none, and None if they could not be read: ``reason`` says why.
    """

    pid: int
    state: str
    wait_channel: str | None = None
    system_call: str | None = None
    reason: str = ""


class KernelPlaces(Struct, frozen=True, tag_field="details", tag="kernel"):
    """The places of all members."""

    places: tuple[KernelPlace, ...]


def state_text(state: str) -> str:
    """Return ``sleeping`` for S."""
    return _STATES.get(state, f"in state {state}" if state else "in an unknown state")


def place_text(place: KernelPlace) -> str:
    """Return ``system call futex (futex_wait_queue)``, ``the kernel, blocked (rpc_wait)``; empty if unknown.

    It completes the sentence "the process is in …".
    """
    channel = f" ({place.wait_channel})" if place.wait_channel else ""
    call = f"system call {place.system_call}" if place.system_call else ""
    if call and place.state == "D":
        return f"{call}, blocked in the kernel{channel}"
    text = call or _PLACES.get(place.state, "")
    return f"{text}{channel}" if text else ""
