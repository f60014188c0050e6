"""Actions on notifications: choose what to wait for, and look out for it in every frame."""

import os
import threading
from collections.abc import Callable, Collection, Iterator
from functools import partial
from itertools import count
from typing import Final

from msgspec.structs import replace

from gputop.core.model.sample import Frame, HostProcess
from gputop.core.notification.lookout import Lookout, free_now
from gputop.core.notification.notification import Condition, Event, Notification
from gputop.core.notification.notifier import Notifier
from gputop.core.notification.sequences import sequences
from gputop.core.protocol.command import ReadStatus
from gputop.core.protocol.process_status import ProcessStatuses
from gputop.core.query.free import vacancies
from gputop.core.settings.settings import Settings
from gputop.ui.messages import NotificationFailed
from gputop.ui.screens.main.host import ScreenHost
from gputop.ui.screens.main.settings_actions import SettingsActions
from gputop.ui.state.await_choices import conditions, conditions_about

_NUMBERS: Final = count(1)
_SHOWN_S: Final = 30.0
_SET: Final = "set · removes it"


class NotificationActions:
    """Holds the conditions that the user waits for. It takes frames also while the screen is paused."""

    def __init__(self, host: ScreenHost, settings: SettingsActions) -> None:
        self._host = host
        self._settings = settings
        self._lookout = Lookout()
        self._request = ""

    def choose(self) -> None:
        """Choose a condition about the selected row or GPU; one that is set is removed."""
        self._choose(lambda frame: conditions(frame, self._host.processes, self._host.view.focus))

    def choose_about(self, gpus: Collection[str], process: HostProcess | None) -> None:
        """Choose a condition about these GPUs, by uuid, and a process."""
        self._choose(lambda frame: conditions_about(frame, gpus, process))

    def _choose(self, conditions_of: Callable[[Frame], Iterator[Condition]]) -> None:
        from gputop.ui.screens.dialogs.menu import Choice, MenuScreen

        frame = self._host.store.newest
        if frame is None or self._host.options.player is not None:
            self._host.notify("there is nothing to wait for: no frame of this host has arrived", timeout=4)
            return
        held = {one.key: one for one in self._lookout.conditions}
        offered = {one.key: one for one in conditions_of(frame)}
        found = [*offered.values(), *(one for key, one in held.items() if key not in offered)]
        choices = [Choice(str(at), one.text, _SET if one.key in held else "") for at, one in enumerate(found)]
        menu = MenuScreen("Notify me when", choices, None)
        self._host.push(menu, lambda at: None if at is None else self._toggle(found[int(at)], frame))

    def take_frame(self, frame: Frame) -> None:
        """Look for the conditions in a frame, and request the status of processes that it does not show."""
        if not self._lookout.conditions:
            return
        shown = self._host.store.watchlist.standing(frame).findings  # without the muted ones
        self._tell(self._lookout.take_frame(replace(frame, findings=shown)))
        unsure = self._lookout.unsure()
        if unsure:
            self._request = f"await-{next(_NUMBERS)}"
            self._host.send(ReadStatus(id=self._request, targets=unsure))

    def take_statuses(self, statuses: ProcessStatuses) -> bool:
        """Take the status of processes; return whether it was requested here."""
        is_own = bool(self._request) and statuses.id == self._request
        if is_own:
            self._request = ""
            self._tell(self._lookout.take_statuses(statuses))
        return is_own

    def _toggle(self, condition: Condition, frame: Frame) -> None:
        frame = self._host.store.newest or frame
        if self._lookout.remove(condition):
            self._host.notify(f"no longer waiting: {condition.text}", timeout=4)
        elif problem := self._problem(condition, frame):
            self._host.notify(problem, severity="warning", timeout=6)
        else:
            self._lookout.add(condition, frame)
            self._host.notify(f"gputop notifies you when {condition.text}", timeout=4)
        self._mark()

    def _problem(self, condition: Condition, frame: Frame) -> str:
        """Return why gputop does not wait for a condition."""
        if condition.event is Event.ENDED and self._host.options.source:
            return "a plugin's source does not report the end of processes"
        if condition.event is not Event.FREE:
            return ""
        if not self._host.options.has_all_processes:
            return "this screen shows only some processes, so gputop does not know which GPUs are free"
        places = free_now(condition, frame, vacancies(frame, frame))
        return f"free already: GPU {' '.join(places)}" if places else ""

    def _tell(self, happened: list[Notification]) -> None:
        """Send notifications: in the message line, to the terminal, and by programs, which may take their time."""
        settings, options = self._settings.current, self._host.options
        for one in happened:
            shown_as = f"notification-{next(_NUMBERS)}"
            self._host.notify(one.text, title=shown_as, severity="warning", timeout=_SHOWN_S)
            self._host.write_sequence(sequences(one, settings, os.environ, is_ascii=options.is_ascii))
            if options.notifier is not None:
                send = partial(self._send, options.notifier, one, settings, shown_as)
                threading.Thread(target=send, name="notifier", daemon=True).start()
        if happened:
            self._mark()

    def _send(self, notifier: Notifier, notification: Notification, settings: Settings, shown_as: str) -> None:
        reasons = notifier.send(notification, settings)
        if reasons:
            text = "\n".join((notification.text, f"not sent: {'; '.join(reasons)}"))
            self._host.post_message(NotificationFailed(shown_as, text))

    def _mark(self) -> None:
        self._host.change(awaited=self._lookout.marked)
