"""The sampler's answers about MIG: the layout of the GPUs, and the progress of a change."""

from msgspec import Struct

from gputop.core.mig.model import Holders, MigGpu


class MigBox(Struct, frozen=True, kw_only=True, tag_field="answer", tag="mig_box"):
    """The answer to `ReadMig`: the MIG state of all GPUs.

    ``warnings``: other programs that configure MIG here; ``holders``: the processes that have the queried GPU open.
    """

    id: str
    gpus: tuple[MigGpu, ...] = ()
    warnings: tuple[str, ...] = ()
    holders: Holders | None = None
    problem: str = ""


class MigProgress(Struct, frozen=True, kw_only=True, tag_field="answer", tag="mig_progress"):
    """The start of a step of a `ChangeMig`; its outcome follows.

    ``done`` of ``total`` steps are complete; ``is_going_back``: the change is being rolled back.
    """

    id: str
    index: int
    done: int
    total: int
    text: str
    is_going_back: bool = False

    @property
    def line(self) -> str:
        """Return the progress as one line of text."""
        way = "rolling back, " if self.is_going_back else ""
        return f"GPU {self.index}: {way}{self.done + 1}/{self.total} {self.text}"
