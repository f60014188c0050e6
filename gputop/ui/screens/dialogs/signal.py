"""Signal dialog: signals at the left, targets at the right; SIGKILL needs a second confirmation.

The lists are drawn by hand, not with an OptionList: both stay aligned side by side, and a click in an OptionList
selects, while here a mouse click must never send a signal.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from textual import events

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import HostProcess
from gputop.core.protocol.signals import KILL, SIGNALS, TERM, signal_number
from gputop.core.text.fit import fit, fit_right
from gputop.ui.render.line import BLANK, Line, cut
from gputop.ui.screens.dialogs.list_dialog import MOVES
from gputop.ui.screens.dialogs.signal_wording import names, remarks
from gputop.ui.screens.dialogs.targets_dialog import TargetsDialog
from gputop.ui.state.signal_targets import Processes, Scope, SignalRequest, TargetSelection, count_text

_NUMBERS: Final = tuple(known.number for known in SIGNALS)
_LEFT: Final = 15


class SignalScreen(TargetsDialog[SignalRequest | None]):
    """Asks for a signal. ``signal``: the highlighted one; SIGKILL starts at its confirmation."""

    TAKES: ClassVar[Mapping[str, str]] = {
        **TargetsDialog.TAKES,
        "accept": "choose", "yes": "say_yes", **MOVES, "offer-kill": "toggle_kill_offer", "left": "move(-1)",
        "right": "move(1)", "sort-before": "move(-1)", "sort-next": "move(1)", "pick-term": "pick('SIGTERM')",
        "pick-kill": "pick('SIGKILL')", "pick-int": "pick('SIGINT')",
    }  # fmt: skip

    def __init__(
        self, selection: TargetSelection, *, scope: Scope, is_row: bool = True, signal: str = TERM, why: str = ""
    ) -> None:
        super().__init__(selection, scope=scope, is_row=is_row)
        self.offers_kill = False
        self.is_asking = signal == KILL
        self._why = why
        self._at = _NUMBERS.index(signal_number(signal))
        self._digits = ""
        self._signals_from = 0

    @property
    def signal(self) -> str:
        """The highlighted signal."""
        return SIGNALS[self._at].name

    @property
    def ink(self) -> str:  # type: ignore[override] # of this state
        """The colour of the frame: a warning while SIGKILL needs its confirmation."""
        return "hot" if self.is_asking else "accent"

    @property
    def confirming_key(self) -> str:
        """The key that sends the signal."""
        return self.name_of("yes" if self.is_asking else "accept")

    @property
    def recipients(self) -> Processes:
        """The processes that get the signal directly."""
        via_launcher = self.via_launcher
        return tuple(one for one in self.targets if one.id not in via_launcher) if via_launcher else self.targets

    @property
    def via_launcher(self) -> Mapping[ProcessId, HostProcess]:
        """The processes that get no signal, each with the launcher that ends it."""
        return self.once(("led", self.signal), lambda: self.selection.via_launcher(self.signal, self.targets))

    def pressed(self, key: str, character: str) -> None:
        """Read digits as a signal number; a single 0 cancels."""
        if len(character) == 1 and character in "0123456789":
            self._digit(character)
            return
        self._digits = ""
        super().pressed(key, character)

    def on_click(self, event: events.Click) -> None:
        """Highlight the clicked signal. A click never sends one."""
        row = event.screen_y - self.frame.region.y - 1 - len(self.user_lines()) + self._signals_from
        is_left = event.screen_x - self.frame.region.x < _LEFT + 2  # the edge of the frame before them
        if is_left and not self.is_asking and self.is_meant_click(event) and 0 <= row < len(SIGNALS):
            self.move_to(row)

    def choose(self) -> None:
        """Send the highlighted signal; ask for confirmation before SIGKILL. There Enter cancels."""
        if self.is_asking:
            self.close()
        elif not self.is_ready:
            return
        elif self.signal == KILL:
            self.is_asking = True
            self.redraw()
        else:
            self._send()

    def say_yes(self) -> None:
        """Confirm SIGKILL."""
        if self.is_asking and self.is_ready:
            self._send()

    def toggle_kill_offer(self) -> None:
        """Switch whether SIGKILL is offered later."""
        if self.signal != KILL:
            self.offers_kill = not self.offers_kill
            self.redraw()

    def title_line(self) -> str:
        """Return the question."""
        if self.is_asking:
            return f"Send {KILL} to {self.targets_text()}?"
        return f"Send a signal to {self.targets_text()}"

    def keys_line(self) -> str:
        """Return the keys."""
        if self.is_asking:
            no = " ".join(self.name_of(action) for action in ("accept", "back", "refuse"))
            yes = f"{self.name_of('yes')} send SIGKILL to {self.short_targets_text()} · "
            return f"{yes if self.is_ready else self.choice_keys()}{no} cancel"
        offer = "without SIGKILL" if self.offers_kill else "after 5 s, ask about SIGKILL"
        accept, back = self.name_of("accept"), self.name_of("back")
        if not self.is_ready:
            return f"{self.choice_keys()}{back} cancel"
        if self.signal == KILL:
            return f"{accept} continue, then {self.name_of('yes')} sends SIGKILL · {back} cancel"
        sent = f"{accept} send {self.signal} to {self.short_targets_text()}"
        return f"{sent} · {back} cancel · {self.name_of('offer-kill')} {offer}"

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return whose targets they are, signals and targets side by side, and the consequences below."""
        above, below = (
            [Line(tuple(cut(list(line.spans), width)), line.base) for line in lines]
            for lines in (self.user_lines(), self._meaning())
        )
        room = max(4, min(height - len(above), len(SIGNALS) + len(below)) - len(below) - 1)
        rights = self.target_lines(width - _LEFT - 3, room, self.via_launcher)
        rights += [BLANK] * (room - len(rights))
        lefts = self._question(room) if self.is_asking else self._signals(room)
        pairs = zip(lefts, rights, strict=True)
        beside = [Line((*cut(list(left.spans), _LEFT), (" │ ", "faint"), *line.spans)) for left, line in pairs]
        return [*above, *beside, Line((("─" * width, "faint"),)), *below]

    def _digit(self, character: str) -> None:
        if character == "0" and int(self._digits or "0") * 10 not in _NUMBERS:
            self.close()
            return
        if self.is_asking:
            return
        number = self._digits + character
        self._digits = number if int(number) in _NUMBERS else character
        if int(self._digits) in _NUMBERS:
            self.move_to(_NUMBERS.index(int(self._digits)))

    def move(self, step: int) -> None:
        """Move the highlight."""
        self.move_to(self._at + step)

    def move_to(self, at: int) -> None:
        """Highlight a signal, unless the dialog waits for the answer about SIGKILL."""
        if not self.is_asking:
            self._at = max(0, min(len(SIGNALS) - 1, at))
            self.redraw()

    def pick(self, signal: str) -> None:
        """Highlight a signal by its name."""
        self.move_to(_NUMBERS.index(signal_number(signal)))

    def _send(self) -> None:
        offers_kill = self.offers_kill and self.signal != KILL
        self.dismiss(SignalRequest(self.signal, self.recipients, self.targets, offers_kill))

    def _signals(self, room: int) -> list[Line]:
        start = max(0, min(self._at - room // 2, len(SIGNALS) - room))
        self._signals_from = start
        lines: list[Line] = []
        for at, known in enumerate(SIGNALS[start : start + room], start):
            text = f"{'>' if at == self._at else ' '}{fit_right(str(known.number), 2)} {known.name}"
            lines.append(Line(((fit(text, _LEFT), "cursor" if at == self._at else "text"),)))
        return lines + [BLANK] * (room - len(lines))

    def _question(self, room: int) -> list[Line]:
        yes = f"{self.name_of('yes')}  send it" if self.is_ready else ""
        texts = [(KILL, "hot"), ("", "text"), (yes, "text"), ("", "text"), (">[ Cancel ]", "cursor")]
        lines = [Line((part,)) for part in texts]
        return (lines + [BLANK] * room)[:room]

    def _meaning(self) -> list[Line]:
        """Return the question, the scope, the signal, the launchers, obstacles and a better command."""
        lines = [*self.warning_lines(), *self.scope_lines()]
        if self.is_asking and self.is_ready:
            question = f"{self._why}Send {KILL} to {count_text(self.recipients)}? Press {self.name_of('yes')}."
            named = self.once(("names", self.signal), lambda: names(self.recipients))
            lines.insert(0, Line(((f"{question} {named}", "hot"),)))
        lines.append(Line(((f"{self.signal}: ", "title"), (SIGNALS[self._at].help, "text"))))
        said = self.once(("remarks", self.signal), lambda: remarks(self.selection, self.signal, self.targets))
        lines += [Line(((text, ink),)) for text, ink in said]
        if self.offers_kill and not self.is_asking:
            lines.append(Line((("After 5 s gputop offers SIGKILL for the processes that still run.", "accent"),)))
        return lines
