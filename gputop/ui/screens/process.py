"""All of one process: what the frames tell at once, and what the sampler finds when it is asked, every two seconds."""

import time
from collections.abc import Callable, Sequence
from itertools import count
from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType

from gputop.core.command import Command, Inspect
from gputop.core.identity import ProcessId
from gputop.core.inspection import Inspection
from gputop.core.inspection_text import sections
from gputop.core.sample import Frame, HostProcess, Presence
from gputop.ui.entries import Entry
from gputop.ui.line import BLANK, Line
from gputop.ui.messages import SignalWanted
from gputop.ui.screens.overlay import Overlay, OverlayBody
from gputop.ui.screens.page_search import PageSearch
from gputop.ui.screens.process_page import Subject, head, section_lines
from gputop.ui.search import highlighted
from gputop.ui.tags import entry_ids
from gputop.ui.view import View

EVERY_S: Final = 2.0
_PATIENCE_S: Final = 10.0  # then the question is asked again: the sampler may be another by now
_FEW_THREADS: Final = 12
_ROOMY: Final = 110  # columns
_QUESTIONS: Final = count(1)


class ProcessBody(OverlayBody):
    """The page, with its keys at the lower edge."""

    keys = ""

    def foot(self, rest: int) -> str:
        """Return the keys, and how much is below."""
        below = "" if rest <= 0 else f" · {rest} more below" if self.size.width >= _ROOMY else f" · {rest} ↓"
        return f" {self.keys}{below} "


class ProcessScreen(Overlay):
    """Shows one process. When it ends the screen says so and keeps what it knew.

    ``ask`` sends a command; ``part``: the key of the section to begin with.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("w", "go('command')", "Command line", show=False),
        Binding("l", "go('files')", "Open files", show=False),
        Binding("x", "go('devices')", "GPU device files", show=False),
        Binding("e", "go('environment')", "Environment", show=False),
        Binding("t", "threads", "All threads", show=False),
        Binding("s", "secrets", "Secrets", show=False),
        Binding("f9", "signal(0)", "Send a signal", show=False),
        Binding("K", "signal(1)", "SIGKILL", show=False),
        Binding("n", "find(1)", "Next match", show=False),
        Binding("N", "find(-1)", "Match before", show=False),
    ]

    def __init__(
        self,
        process: HostProcess,
        view: View,
        ask: Callable[[Command], None],
        *,
        part: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.title_text = f"Process {process.pid}"
        is_ascii = view.plots.is_ascii
        super().__init__(is_ascii=is_ascii)
        self._body = self._framed = ProcessBody(f" {self.title_text} ", is_ascii=is_ascii)
        self._framed.is_full = True
        self.process = process
        self.inspection: Inspection | None = None
        self.search = PageSearch()
        self.reveals = False
        self._view = view
        self._ask = ask
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
        self._page: list[Line] = []
        self._cached: tuple[object, list[tuple[str, list[Line]]]] = (None, [])

    def on_mount(self) -> None:
        """Ask, now and again."""
        super().on_mount()
        self.ask()
        self.set_interval(EVERY_S, self.ask)

    def show(self, view: View) -> None:
        """Draw a new frame."""
        self._view = view
        if view.frame is not None:
            found = _find(view.frame, self.process.id)
            self._is_listed = found is not None
            self.process = found or self.process
            self._seen_s = view.frame.time_s if found else self._seen_s
        self.draw_page()

    def action_signal(self, is_kill: int) -> None:
        """Ask for a signal to this very process."""
        self.post_message(SignalWanted(self.process, is_kill=bool(is_kill)))

    def ask(self, *, is_urgent: bool = False) -> None:
        """Ask for an inspection, unless one is on its way or nothing more is to be learned."""
        waits = bool(self._question) and self._clock() - self._asked_s < _PATIENCE_S
        if self._has_ended or self.process.presence is not Presence.ALIVE or (waits and not is_urgent):
            return
        self._question, self._asked_s = f"inspect-{next(_QUESTIONS)}", self._clock()
        pid, start_ticks = self.process.pid, self.process.start_ticks
        self._ask(Inspect(id=self._question, pid=pid, start_ticks=start_ticks, reveal=self.reveals))

    def take(self, inspection: Inspection) -> None:
        """Take an answer; those to older questions are of no use any more."""
        if inspection.id != self._question:
            return
        self._question = ""
        self._trouble, self._has_ended = inspection.problem, inspection.has_ended
        if not inspection.problem:
            self._before, self.inspection = self.inspection, inspection
        self.draw_page()

    def draw_page(self) -> None:
        """Draw the page as wide as the screen; what was in view stays there."""
        place = self._place()
        width, height = self.size
        self._page = list(self.page(max(20, width - 4), height))
        self._body.title = self._title()
        self._framed.keys = self._keys()
        self._body.show([self._marked(line) for line in self._page])
        if self._wanted in self._anchors:
            self._body.scroll_page_to(self._anchors[self._wanted])
            self._wanted = ""
        elif place is not None:
            self._body.scroll_page_to(self._anchors.get(place[0], 0) + place[1])

    def page(self, width: int, height: int = 0) -> Sequence[Line]:
        """Return the whole page."""
        lines = head(self._subject(), self._view, width, height)
        self._anchors = {}
        if self.inspection is None and not self._trouble and self.process.presence is Presence.ALIVE:
            return [*lines, BLANK, Line((("asking the sampler for the rest…", "muted"),))]
        for key, drawn in self._sections(width):
            lines.append(BLANK)
            self._anchors[key] = len(lines)
            lines += drawn
        return lines

    def on_key(self, event: events.Key) -> None:
        """Take what is typed into the search, in the order in which it was typed."""
        if self.search.is_open:
            self.search.press(event.key, event.character)
            self._find(self._body.top, 1)
        elif event.key == "slash":
            self.search.open()
        else:
            return
        event.stop()
        event.prevent_default()
        self.draw_page()

    def on_click(self) -> None:
        """Stay: the page covers all, and a click on it means nothing."""

    def action_go(self, key: str) -> None:
        """Go to a section, as soon as it is there."""
        self._wanted = key
        self.draw_page()

    def action_threads(self) -> None:
        """Show all threads, or only the busiest."""
        self._has_all_threads = not self._has_all_threads
        self.action_go("threads")

    def action_secrets(self) -> None:
        """Show the values of secrets, or mask them again."""
        self.reveals = not self.reveals
        if self.reveals:
            self.ask(is_urgent=True)
        self.action_go("environment")

    def action_find(self, step: int) -> None:
        """Go to the next line with the text."""
        self._find(self._body.top + step, step)

    def _find(self, start: int, step: int) -> None:
        at = self.search.find(self._page, start, step)
        if at is not None:
            self._body.scroll_page_to(at)

    def _sections(self, width: int) -> list[tuple[str, list[Line]]]:
        """Return the inspection's sections as lines; made again only if something of it is new."""
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
            return f"{self._trouble}. This is what was known of it."
        if self._trouble:
            return self._trouble
        if self.process.presence is not Presence.ALIVE or self._is_listed:
            return ""
        return "It uses no GPU any more. The first lines are as they were."

    def _title(self) -> str:
        name = self.inspection.name if self.inspection else self.process.command.partition(" ")[0].rpartition("/")[2]
        return " " + " · ".join(part for part in (self.title_text, name, self.process.user) if part) + " "

    def _keys(self) -> str:
        if self.search.is_open:
            is_there = not self.search.text or self.search.find(self._page, 0) is not None
            return f"/{self.search.text}▏{'' if is_there else ' is not on this page'}"
        secrets = "s mask secrets" if self.reveals else "s secrets"
        threads = "t few threads" if self._has_all_threads else "t threads"
        if self.size.width < _ROOMY:
            return f"F9 · w command · l files · x devices · e env · {secrets} · / · Esc"
        return f"F9 signal · w command · l files · x devices · e env · {secrets} · {threads} · / search · Esc"

    def _marked(self, line: Line) -> Line:
        return Line(tuple(highlighted(line.spans, self.search.text)), line.base) if self.search.text else line

    def _place(self) -> tuple[str, int] | None:
        """Return the section at the upper edge, and how far into it the page is scrolled."""
        top = self._body.top
        above = [(at, key) for key, at in self._anchors.items() if at <= top]
        if not above:
            return None
        at, key = max(above)
        return key, top - at


def pointed_at(entry: Entry, frame: Frame) -> HostProcess | None:
    """Return the process that a line stands for, a folded one as well; of a group the first."""
    if entry.is_group:
        return _find(frame, entry.processes[0].id)
    return next((found for name in entry_ids(entry) if (found := _find(frame, name))), None)


def _find(frame: Frame, name: ProcessId) -> HostProcess | None:
    for held in (frame.processes, frame.relatives):
        for each in held:
            if each.id == name:
                return each
    return None
