"""Messages of the app."""

from collections.abc import Collection

from textual.message import Message

from gputop.core.model.finding import Finding
from gputop.core.model.sample import Frame, HostProcess
from gputop.core.protocol.link import Down, News
from gputop.core.settings.settings import Settings


class NewsArrived(Message):
    """The link delivered news. A later frame, or a later reason for the loss of the link, replaces one that waits."""

    def __init__(self, news: News) -> None:
        super().__init__()
        self.news = news

    def can_replace(self, message: Message) -> bool:
        """Replace news of the same kind, where only the latest counts."""
        return (
            isinstance(message, NewsArrived)
            and isinstance(self.news, Frame | Down)
            and type(self.news) is type(message.news)
        )


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


class HistoryRequested(Message):
    """The user wants to see the history of a process."""

    def __init__(self, process: HostProcess) -> None:
        super().__init__()
        self.process = process


class ProcessRequested(Message):
    """The user wants to see the page of a process."""

    def __init__(self, process: HostProcess) -> None:
        super().__init__()
        self.process = process


class WhyRequested(Message):
    """The user wants to see where a process, its job, or the processes of a finding hang."""

    def __init__(self, about: HostProcess | Finding) -> None:
        super().__init__()
        self.about = about


class FindingCopied(Message):
    """The user wants to copy a finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__()
        self.finding = finding


class PageCopied(Message):
    """The user wants to copy the text of a page."""

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self.title, self.text = title, text


class NotificationRequested(Message):
    """The user wants to choose a notification about a GPU or a process."""

    def __init__(self, gpus: Collection[str], process: HostProcess | None) -> None:
        super().__init__()
        self.gpus, self.process = gpus, process


class NotificationFailed(Message):
    """A channel did not send a notification. ``shown_as``: the id of its message; ``text``: the message, with why."""

    def __init__(self, shown_as: str, text: str) -> None:
        super().__init__()
        self.shown_as, self.text = shown_as, text


class KeyUnused(Message):
    """The user pressed a key that has no meaning on a page."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self.key = key


class SignalRequested(Message):
    """The user wants to signal processes; ``is_kill``: with SIGKILL."""

    def __init__(self, *processes: HostProcess, is_kill: bool) -> None:
        super().__init__()
        self.processes = processes
        self.is_kill = is_kill
