"""What reaches the screen from outside, and what goes out; of news from the link the newest replaces one that waits."""

from textual.message import Message

from gputop.core.inspection.inspection import Inspection
from gputop.core.mig.answers import MigBox, MigProgress
from gputop.core.model.sample import Frame, HostProcess
from gputop.core.protocol.link import Down
from gputop.core.protocol.outcome import Outcome
from gputop.core.protocol.process_status import ProcessStatuses
from gputop.core.recording.playback import Stretch
from gputop.core.settings.settings import Settings


class FrameArrived(Message):
    """A frame came."""

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self.frame = frame

    def can_replace(self, message: Message) -> bool:
        """Let a later frame take the place of one that nobody has seen."""
        return isinstance(message, FrameArrived)


class StretchArrived(Message):
    """A recording went on; none of this may be left out."""

    def __init__(self, stretch: Stretch) -> None:
        super().__init__()
        self.stretch = stretch


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


class AnswerArrived(Message):
    """The sampler answered a question, or told how far a change is."""

    def __init__(self, answer: ProcessStatuses | Inspection | MigBox | MigProgress) -> None:
        super().__init__()
        self.answer = answer


class PanelChanged(Message):
    """A panel of a plugin has something else to show."""

    def can_replace(self, message: Message) -> bool:
        """Let one stand for several."""
        return isinstance(message, PanelChanged)


class ProbeProgressed(Message):
    """A probe went on, or ended."""

    def can_replace(self, message: Message) -> bool:
        """Let one stand for several."""
        return isinstance(message, ProbeProgressed)


class SettingsChanged(Message):
    """Somebody changed the settings, and wants to see it."""

    def __init__(self, before: Settings, after: Settings) -> None:
        super().__init__()
        self.before, self.after = before, after


class SignalRequested(Message):
    """Somebody wants to choose a signal for a process; ``is_kill``: SIGKILL."""

    def __init__(self, process: HostProcess, *, is_kill: bool) -> None:
        super().__init__()
        self.process = process
        self.is_kill = is_kill
