"""How far a change of a MIG layout has come: an answer to `ChangeMig` before its outcome."""

from msgspec import Struct


class MigProgress(Struct, frozen=True, kw_only=True, tag_field="answer", tag="mig_progress"):
    """That a step begins. ``done`` of ``total`` are behind; ``is_going_back``: what was done is being taken back."""

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
