"""Where processes are in the kernel: state, wait channel and system call of their main threads."""

from msgspec import Struct


class KernelPlace(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The main thread of a process. ``state``: a letter of /proc; ``wait_channel``, ``system_call``: None if unread."""

    pid: int
    state: str
    wait_channel: str | None = None
    system_call: str | None = None
    reason: str = ""


class KernelPlaces(Struct, frozen=True, tag_field="details", tag="kernel"):
    """The places of all members."""

    places: tuple[KernelPlace, ...]
