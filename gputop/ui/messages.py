"""Messages of the app; a newer frame replaces one that waits."""

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
    """A frame arrived."""

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self.frame = frame

    def can_replace(self, message: Message) -> bool:
        """Let a later frame replace one that was not drawn yet."""
        return isinstance(message, FrameArrived)


class StretchArrived(Message):
    """The next part of a recording arrived; none may be dropped."""

    def __init__(self, stretch: Stretch) -> None:
        super().__init__()
        self.stretch = stretch


class LinkWentDown(Message):
    """The link to the sampler is down."""

    def __init__(self, down: Down) -> None:
        super().__init__()
        self.down = down

    def can_replace(self, message: Message) -> bool:
        """Let the latest reason replace an earlier one."""
        return isinstance(message, LinkWentDown)


class ChangeEnded(Message):
    """The outcome of a change arrived."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


class AnswerArrived(Message):
    """An answer of the sampler arrived, or the progress of a change."""

    def __init__(self, answer: ProcessStatuses | Inspection | MigBox | MigProgress) -> None:
        super().__init__()
        self.answer = answer


class PanelChanged(Message):
    """A plugin's panel has new lines."""

    def can_replace(self, message: Message) -> bool:
        """Let one message replace several."""
        return isinstance(message, PanelChanged)


class ProbeProgressed(Message):
    """A probe made progress, or ended."""

    def can_replace(self, message: Message) -> bool:
        """Let one message replace several."""
        return isinstance(message, ProbeProgressed)


class SettingsChanged(Message):
    """The settings have changed."""

    def __init__(self, before: Settings, after: Settings) -> None:
        super().__init__()
        self.before, self.after = before, after


class SignalRequested(Message):
    """The user wants to signal a process; ``is_kill``: with SIGKILL."""

    def __init__(self, process: HostProcess, *, is_kill: bool) -> None:
        super().__init__()
        self.process = process
        self.is_kill = is_kill
