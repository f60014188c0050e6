"""The answer of the RAS service of NCCL: its JSON, of NCCL 2.28.7 and later. Any process may have sent it."""

from typing import Annotated, Final, TypeAlias

from msgspec import DecodeError, Meta, Struct
from msgspec.json import Decoder

from gputop.core.text.text import excerpt

_MOST_COUNT: Final = 2**53
_Count: TypeAlias = Annotated[int, Meta(ge=-1, le=_MOST_COUNT)]
_Flag: TypeAlias = bool | int
_MOST_COMMUNICATORS: Final = 1024
_LONGEST: Final = 64


class RasStatus(Struct, frozen=True):
    """The status of a rank. ``init_state``: 0 is ready, 7 in progress, any other an error."""

    init_state: int = 0
    async_error: int = 0
    abort_flag: _Flag = False
    finalize_called: _Flag = False
    unresponsive: _Flag = False
    considered_dead: _Flag = False

    @property
    def text(self) -> str:
        """Return the most serious state in a word or two; empty if it is well."""
        states = (
            (self.considered_dead, "dead"), (self.unresponsive, "unresponsive"), (self.abort_flag, "aborted"),
            (self.async_error, f"error {self.async_error}"), (self.init_state == 7, "initialising"),
            (self.init_state, f"error {self.init_state}"), (self.finalize_called, "finalising"),
        )  # fmt: skip
        return next((name for holds, name in states if holds), "")


class RasRank(Struct, frozen=True):
    """A rank of a communicator. ``pid``: in the PID namespace of the process; -1 if it is not known."""

    rank: _Count
    host: str = ""
    pid: _Count = -1
    status: RasStatus = RasStatus()
    collective_counts: dict[str, _Count] = {}

    @property
    def process(self) -> tuple[str, int]:
        """Return what identifies the process in this answer."""
        return self.host, self.pid

    @property
    def total(self) -> int:
        """Return the number of operations of all kinds."""
        return min(_MOST_COUNT, sum(self.collective_counts.values()))


class RasCommunicator(Struct, frozen=True):
    """A communicator."""

    hash: str | int = ""
    secondary_hash: str | int = ""
    size: _Count = 0
    ranks: tuple[RasRank, ...] = ()
    missing_ranks: tuple[RasRank, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """Return what identifies the communicator in two answers."""
        return str(self.hash), str(self.secondary_hash)


class RasAnswer(Struct, frozen=True):
    """An answer."""

    communicators: tuple[RasCommunicator, ...]
    nccl_version: str = ""


_DECODER: Final = Decoder(RasAnswer)


def parse_ras(raw: bytes) -> RasAnswer:
    """Return the answer. Raises ValueError with the reason if it is not one."""
    try:
        answer = _DECODER.decode(raw)
    except (DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"its answer is not the JSON of NCCL: {excerpt(str(error))}") from None
    if len(answer.communicators) > _MOST_COMMUNICATORS:
        raise ValueError(f"its answer has more than {_MOST_COMMUNICATORS:,} communicators")
    return answer


def host_text(rank: RasRank) -> str:
    """Return the host of a rank; empty if NCCL does not know it."""
    return "" if rank.host == "unknown" else excerpt(rank.host, _LONGEST)
