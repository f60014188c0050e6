"""Page Why: where a job or process hangs, as far as its sources know; the verdict first."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import ClassVar, Final

from gputop.core.insight.explanation import Explanation, SourceState
from gputop.core.insight.members import Asked
from gputop.core.insight.text import FEW_FRAMES, sections
from gputop.core.protocol.command import Command, Explain
from gputop.core.protocol.link import News
from gputop.ui.render.line import BLANK, Line
from gputop.ui.screens.pages.page import Page
from gputop.ui.screens.pages.process_lines import section_lines, wrapped
from gputop.ui.state.signal_followup import Clock

_QUESTIONS: Final = count(1)
_PATIENCE_S: Final = 60.0  # longer than any source may take; the sampler may have restarted


class WhyScreen(Page):
    """Asks once when it opens, and again on a key. ``asked``: the processes; ``send`` sends a command."""

    TAKES: ClassVar[Mapping[str, str]] = {
        **Page.TAKES, "why": "close", "read-now": "ask", "all-threads": "show_more",
    }  # fmt: skip
    is_full = True

    def __init__(self, asked: Asked, send: Callable[[Command], None], *, clock: Clock) -> None:
        self.title_text = f"Why · {asked.heading}"
        super().__init__()
        self.explanation: Explanation | None = None
        self.is_native = False
        self._asked = asked
        self._send = send
        self._has_all_frames = False
        self._question = ""
        self._clock = clock
        self._asked_s = 0.0

    def on_mount(self) -> None:
        """Ask now."""
        super().on_mount()
        self.ask()

    def ask(self) -> None:
        """Ask all sources, unless a question is open that may still be answered."""
        if not self._question or self._clock() - self._asked_s > _PATIENCE_S:
            self._question, self._asked_s = f"explain-{next(_QUESTIONS)}", self._clock()
            members, since_s = self._asked.members, self._asked.since_s
            self._send(Explain(id=self._question, members=members, native=self.is_native, since_s=since_s))
            self.redraw()

    def hear(self, news: News) -> bool:
        """Take the answers to the latest question; the last one closes it."""
        if isinstance(news, Explanation) and news.id == self._question:
            self.explanation = news
            self._question = "" if news.is_complete else self._question
            self.redraw()
        return False

    def show_more(self) -> None:
        """Show all frames of the stacks; then ask for those of C and C++ too; then show the innermost again."""
        if not self._has_all_frames:
            self._has_all_frames = True
        elif not self._question:
            self.is_native = not self.is_native
            self._has_all_frames = self.is_native
            self.ask()
        self.redraw()

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - the page scrolls
        """Return the verdict, the state of each source, and the answers."""
        held = self.explanation
        lines = [Line(((text, "title"),)) for text in wrapped(self._verdict(), width)]
        if held is None:
            return lines
        for section in sections(held, most_frames=None if self._has_all_frames else FEW_FRAMES):
            lines += [BLANK, *section_lines(section, width)]
        return lines

    def keys_line(self) -> str:
        """Return the keys."""
        name, more = self.name_of, f"{self.rest} below · " if self.rest > 0 else ""
        frames = "few frames" if self.is_native else "native frames" if self._has_all_frames else "all frames"
        return f"{more}{name('read-now')} ask again · {name('all-threads')} {frames} · {name('back')} close"

    def _verdict(self) -> str:
        held = self.explanation
        if held is None:
            return "Asking…"
        asked = sum(source.state is SourceState.ASKED for source in held.sources)
        waits = f" ({asked} of {len(held.sources)} sources have not answered yet)" if asked else ""
        return (held.problem or held.verdict or ("Asking…" if asked else "No source knows where it hangs.")) + waits
