"""Process page: values from the frames at once, and an inspection by the sampler every two seconds."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult

from gputop.core.inspection.inspection import Inspection
from gputop.core.inspection.text import sections
from gputop.core.model.sample import HostProcess, Presence
from gputop.core.protocol.command import Command, Inspect
from gputop.core.protocol.link import News
from gputop.ui.messages import HistoryRequested, NotificationRequested, SignalRequested, WhyRequested
from gputop.ui.panels.prompt import PromptPanel
from gputop.ui.render.line import BLANK, Line
from gputop.ui.screens.pages.finding_lines import findings_part
from gputop.ui.screens.pages.page import Page
from gputop.ui.screens.pages.process_lines import Subject, head, section_lines
from gputop.ui.state.search import find_line, highlighted
from gputop.ui.state.selection import find
from gputop.ui.state.signal_followup import Clock
from gputop.ui.state.view import View

EVERY_S: Final = 2.0
_PATIENCE_S: Final = 10.0  # then the page asks again: the sampler may have restarted
_FEW_THREADS: Final = 12
_ROOMY: Final = 110  # columns
_QUESTIONS: Final = count(1)


class ProcessScreen(Page):
    """Shows one process. After it exits the page says so and keeps the last values.

    ``send`` sends a command; ``part``: the key of the first section to show.
    """

    TAKES: ClassVar[Mapping[str, str]] = {
        **Page.TAKES,
        "command-line": "go_to('command')", "open-files": "go_to('files')", "devices": "go_to('devices')",
        "environment": "go_to('environment')", "all-threads": "toggle_threads", "secrets": "toggle_secrets",
        "history": "open_history", "why": "why", "notify": "notify_me",
        "read-now": "reload", "signal": "signal(False)", "kill": "signal(True)", "search": "begin_search",
        "search-next": "find_next(1)", "search-before": "find_next(-1)",
    }  # fmt: skip
    is_full = True

    def __init__(
        self, process: HostProcess, view: View, send: Callable[[Command], None], *, part: str = "", clock: Clock
    ) -> None:
        self.title_text = f"Process {process.pid}"
        super().__init__()
        self.process = process
        self.inspection: Inspection | None = None
        self.prompt = PromptPanel()
        self.text = ""  # the text of the search
        self.reveals = False
        self._view = view
        self._send = send
        self._clock = clock
        self._wanted = part
        self._before: Inspection | None = None
        self._trouble = ""
        self._has_ended = False
        self._is_listed = True
        self._has_all_threads = False
        self._track = view.tracks.track(process.id)
        self._seen_s = view.frame.time_s if view.frame else 0.0
        self._question = ""
        self._asked_s = 0.0
        self._anchors: dict[str, int] = {}
        self._cached: tuple[object, list[tuple[str, list[Line]]]] = (None, [])

    def on_mount(self) -> None:
        """Ask now, and then regularly."""
        super().on_mount()
        self.ask()
        self.set_interval(EVERY_S, self.ask)

    def follow(self, view: View) -> None:
        """Draw a new frame."""
        self._view = view
        if view.frame is not None:
            found = find(view.frame, self.process.id)
            self._is_listed = found is not None
            self.process = found or self.process
            self._seen_s = view.frame.time_s if found else self._seen_s
        self.redraw()

    def ask(self, *, is_urgent: bool = False) -> None:
        """Ask for an inspection, unless one is pending or the process has ended."""
        waits = bool(self._question) and self._clock() - self._asked_s < _PATIENCE_S
        if self._has_ended or self.process.presence is not Presence.ALIVE or (waits and not is_urgent):
            return
        self._question, self._asked_s = f"inspect-{next(_QUESTIONS)}", self._clock()
        pid, start_ticks = self.process.pid, self.process.start_ticks
        self._send(Inspect(id=self._question, pid=pid, start_ticks=start_ticks, reveal=self.reveals))

    def reload(self) -> None:
        """Ask at once."""
        self.ask(is_urgent=True)

    def hear(self, news: News) -> bool:
        """Take an inspection."""
        if isinstance(news, Inspection):
            self.take(news)
        return False

    def take(self, inspection: Inspection) -> None:
        """Take the answer to the latest question; ignore older ones."""
        if inspection.id != self._question:
            return
        self._question = ""
        self._trouble, self._has_ended = inspection.problem, inspection.has_ended
        if not inspection.problem:
            self._before, self.inspection = self.inspection, inspection
        self.redraw()

    def compose(self) -> ComposeResult:
        """Compose the page, with the search prompt below."""
        yield from super().compose()
        yield self.prompt

    def redraw(self) -> None:
        """Draw the page; the section in view stays in view."""
        place = self._place()
        super().redraw()
        if self._wanted in self._anchors:
            self.scroll_page_to(self._anchors[self._wanted])
            self._wanted = ""
        elif place is not None:
            self.scroll_page_to(self._anchors.get(place[0], 0) + place[1])

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the whole page with the search text highlighted."""
        return [self._marked(line) for line in self._lines(width, height)]

    def _lines(self, width: int, height: int) -> list[Line]:
        lines = head(self._subject(), self._view, width, height)
        lines += findings_part(self._view.standing.of(self.process.id), width, key=self.name_of("signal"))
        self._anchors = {}
        if self.inspection is None and not self._trouble and self.process.presence is Presence.ALIVE:
            return [*lines, BLANK, Line((("reading the details of this process…", "muted"),))]
        for key, drawn in self._sections(width):
            lines.append(BLANK)
            self._anchors[key] = len(lines)
            lines += drawn
        return lines

    def typed(self, event: events.Key) -> bool:
        """Give every key to the search prompt while it is open."""
        if self.prompt.display:
            self.prompt.on_key(event)
        return self.prompt.display

    def on_prompt_panel_changed(self, message: PromptPanel.Changed) -> None:
        """Go to the first line with the text while the user types."""
        self.text = message.text
        self._find(self.top, 1)
        self.redraw()

    def on_prompt_panel_ended(self, message: PromptPanel.Ended) -> None:
        """Keep the text or drop it."""
        self.text = message.text if message.is_kept else ""
        self.prompt.close()
        self.set_focus(None)
        self.redraw()

    def toggle_threads(self) -> None:
        """Show all threads, or only the busiest."""
        self._has_all_threads = not self._has_all_threads
        self.go_to("threads")

    def toggle_secrets(self) -> None:
        """Show the values of secrets, or mask them again."""
        self.reveals = not self.reveals
        if self.reveals:
            self.ask(is_urgent=True)
        self.go_to("environment")

    def begin_search(self) -> None:
        """Open the search prompt."""
        self.text = ""
        self.prompt.ask("Search", "")
        self.redraw()

    def signal(self, is_kill: bool) -> None:  # noqa: FBT001 - an argument of a key
        """Open the signal dialog; ``is_kill``: for SIGKILL."""
        self.post_message(SignalRequested(self.process, is_kill=is_kill))

    def why(self) -> None:
        """Ask where this process or its job hangs."""
        self.post_message(WhyRequested(self.process))

    def open_history(self) -> None:
        """Open the history of this process on top."""
        self.post_message(HistoryRequested(self.process))

    def notify_me(self) -> None:
        """Choose a notification about this process or its GPUs."""
        self.post_message(NotificationRequested([use.gpu for use in self.process.gpus], self.process))

    def copy_page(self) -> None:
        """Copy the whole page as text, unless it shows secrets."""
        if self.reveals:
            self.notify(f"This page shows secrets. Press {self.name_of('secrets')} to mask them, then copy.", timeout=6)
        else:
            super().copy_page()

    def find_next(self, step: int) -> None:
        """Go to the next or previous line with the text."""
        self._find(self.top + step, step)

    def go_to(self, key: str) -> None:
        """Go to a section, as soon as it is loaded."""
        self._wanted = key
        self.redraw()

    def _find(self, start: int, step: int) -> None:
        at = find_line(self.body.lines, self.text, start, step) if self.text else None
        if at is not None:
            self.scroll_page_to(at)

    def _sections(self, width: int) -> list[tuple[str, list[Line]]]:
        """Return the inspection's sections as lines, from a cache while nothing changed."""
        if self.inspection is None:
            return []
        key = (self.inspection, width, self.reveals, self._has_all_threads)
        if self._cached[0] != key:
            most = None if self._has_all_threads else _FEW_THREADS
            found = sections(self.inspection, self._before, most_threads=most, reveal=self.reveals)
            self._cached = (key, [(section.key, section_lines(section, width)) for section in found])
        return self._cached[1]

    def _subject(self) -> Subject:
        frame = self._view.frame
        jobs = [job for job in frame.jobs if self.process.id in job.members] if frame else []
        return Subject(
            process=self.process,
            job=jobs[0] if jobs else None,
            track=self._track,
            seen_s=self._seen_s,
            trouble=self._told_trouble(),
        )

    def _told_trouble(self) -> str:
        if self._has_ended:
            return f"{self._trouble}. This page shows its last values."
        if self._trouble:
            return self._trouble
        if self.process.presence is not Presence.ALIVE or self._is_listed:
            return ""
        return "This process no longer uses a GPU. The first lines show its last values."

    def title_line(self) -> str:
        """Return pid, name and user of the process."""
        name = self.inspection.name if self.inspection else self.process.command.partition(" ")[0].rpartition("/")[2]
        return " · ".join(part for part in (self.title_text, name, self.process.user) if part)

    def keys_line(self) -> str:
        """Return the keys and the number of lines below, or that the search has no match."""
        if self.prompt.display and self.text and find_line(self.body.lines, self.text, 0) is None:
            return f"no match for {self.text} on this page"
        rest = self.rest
        is_roomy = self.size.width >= _ROOMY
        hints = _hints(is_revealed=self.reveals, has_all_threads=self._has_all_threads)
        parts = [
            f"{self.name_of(id_)} {words}".strip() for id_, *both in hints if (words := both[is_roomy]) is not None
        ]
        below = [] if rest <= 0 else [f"{rest} below" if is_roomy else f"{rest} ↓"]
        return ("  " if is_roomy else " · ").join([*parts, *below])

    def _marked(self, line: Line) -> Line:
        return Line(tuple(highlighted(line.spans, self.text)), line.base) if self.text else line

    def _place(self) -> tuple[str, int] | None:
        """Return the section at the top, and the lines of it that are scrolled away."""
        top = self.top
        above = [(at, key) for key, at in self._anchors.items() if at <= top]
        if not above:
            return None
        at, key = max(above)
        return key, top - at


def _hints(*, is_revealed: bool, has_all_threads: bool) -> list[tuple[str, str | None, str]]:
    """Return actions with their labels for a narrow and for a wide screen; None: the label does not fit."""
    return [
        ("signal", "", "signal"),
        ("why", "why", "why"),
        ("open-files", "files", "files"),
        ("devices", "devices", "devices"),
        ("environment", "env", "env"),
        ("secrets", "mask" if is_revealed else "secrets", "mask secrets" if is_revealed else "secrets"),
        ("all-threads", None, "few threads" if has_all_threads else "threads"),
        ("history", None, "history"),
        ("search", "", "search"),
        ("back", "", "close"),
    ]
