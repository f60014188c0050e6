"""What a sampler says of MIG: how the GPUs are split, and how far a change of that has come."""

from msgspec import Struct

from gputop.core.mig.model import Holders, MigGpu


class MigBox(Struct, frozen=True, kw_only=True, tag_field="answer", tag="mig_box"):
    """The answer to `ReadMig`: all GPUs as MIG sees them.

    ``warnings``: who else configures MIG on this machine; ``holders``: who has the GPU open that was asked about.
    """

    id: str
    gpus: tuple[MigGpu, ...] = ()
    warnings: tuple[str, ...] = ()
    holders: Holders | None = None
    problem: str = ""


class MigProgress(Struct, frozen=True, kw_only=True, tag_field="answer", tag="mig_progress"):
    """That a step of a `ChangeMig` begins; its outcome follows.

    ``done`` of ``total`` are behind; ``is_going_back``: what was done is being taken back.
    """

    id: str
    index: int
    done: int
    total: int
    text: str
    is_going_back: bool = False

    @property
    def line(self) -> str:
        """Return a line for people."""
        way = "going back, " if self.is_going_back else ""
        return f"GPU {self.index}: {way}{self.done + 1}/{self.total} {self.text}"
