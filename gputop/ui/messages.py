"""What reaches the screen from outside. Posted from the link's thread; the newest replaces one that still waits."""

from textual.message import Message

from gputop.core.link import Down
from gputop.core.outcome import Outcome
from gputop.core.sample import Frame


class FrameArrived(Message):
    """A frame came."""

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self.frame = frame

    def can_replace(self, message: Message) -> bool:
        """Let a later frame take the place of one that nobody has seen."""
        return isinstance(message, FrameArrived)


class LinkWentDown(Message):
    """The sampler is gone."""

    def __init__(self, down: Down) -> None:
        super().__init__()
        self.down = down

    def can_replace(self, message: Message) -> bool:
        """Let the latest reason count."""
        return isinstance(message, LinkWentDown)


class ChangeEnded(Message):
    """A change of the machine was carried out, or was not."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome
