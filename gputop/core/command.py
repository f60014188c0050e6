"""What can be asked of a sampler: the only ways to change anything. Each is one line of JSON."""

from typing import TypeAlias

from msgspec import Struct


class SetInterval(Struct, frozen=True, tag_field="command", tag="set_interval"):
    """Take a sample every so many seconds from now on."""

    interval_s: float


class ReadNow(Struct, frozen=True, tag_field="command", tag="read_now"):
    """Take a sample at once."""


Command: TypeAlias = SetInterval | ReadNow
