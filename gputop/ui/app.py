"""The screen's switchboard: frames come in through the link, commands go out through it, panels draw the view."""

import time
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Final

from msgspec.structs import replace
from textual.app import SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from gputop.core.columns import COLUMNS
from gputop.core.command import ReadNow, SetInterval
from gputop.core.history import History
from gputop.core.inspection import Inspection
from gputop.core.link import Down, Link, News
from gputop.core.outcome import Outcome
from gputop.core.sample import Frame, Gpu, GpuState
from gputop.ui.actions import bindings
from gputop.ui.keymap import ALWAYS_QUITS, keymap
from gputop.ui.messages import (
    ChangeEnded,
    ChangeWanted,
    FrameArrived,
    InspectionArrived,
    LinkWentDown,
    SettingsChanged,
    SignalWanted,
)
from gputop.ui.options import Density, ViewOptions
from gputop.ui.panels.gpus import GpuPanel
from gputop.ui.plots import Plots
from gputop.ui.screens.gpu import GpuScreen
from gputop.ui.screens.help import HelpScreen
from gputop.ui.screens.main import MainScreen
from gputop.ui.screens.process import ProcessScreen, pointed_at
from gputop.ui.terminal import TerminalApp
from gputop.ui.theme import THEME_NAMES
from gputop.ui.view import PLOTTED, View

INTERVALS: Final = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
_LATE: Final = 2.0  # a frame is late after so many intervals


class GputopApp(TerminalApp):
    """Shows what a link delivers. ``clock``: seconds that only grow, for the age of frames."""

    CSS_PATH = "gputop.tcss"
    TITLE = "gputop"
    BINDINGS: ClassVar[list[BindingType]] = [Binding(ALWAYS_QUITS, "quit", "Quit", show=False, priority=True)]
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, link: Link, options: ViewOptions, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(options.theme, writes_changes_only=options.writes_changes_only)
        self.options = options
        self._link = link
        self._clock = clock
        self._known: dict[str, Gpu] = {}
        self._newest: Frame | None = None
        self._heard_s = clock()
        history = History(PLOTTED)
        plots = Plots(history, is_ascii=options.is_ascii)
        self.view = View(history=history, plots=plots, known=self._known, density=options.density)
        self.keymap = keymap(options.settings.keymap, options.settings.keys)
        for binding in bindings(self.keymap.actions):
            if binding.key != ALWAYS_QUITS:
                self.bind(binding.key, binding.action, description=binding.description, show=False)
        self.main = MainScreen(options, self.view, clock, self.keymap.actions)

    def get_default_screen(self) -> Screen[None]:
        """Return the main screen."""
        return self.main

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:  # noqa: ARG002 - Textual's signature
        """Fill the palette from the table of keys, with each theme and each column to sort by."""
        for action in self.keymap.actions:
            if action.in_palette:
                yield SystemCommand(action.label, action.help, self._runner(action.run))
        for name in THEME_NAMES:
            yield SystemCommand(f"Theme: {name}", "Change the colours.", self._runner(f"theme('{name}')"))
        for column in COLUMNS:
            yield SystemCommand(f"Sort by {column.title}", column.help, self._runner(f"screen.sort('{column.key}')"))

    def on_mount(self) -> None:
        """Open the link, and look once a second how old the frame is."""
        self._link.open(self._receive)
        for problem in (*self.options.problems, *self.keymap.problems):
            self.notify(problem, title="settings", severity="warning", markup=False, timeout=12)
        self.set_interval(1.0, self.check_age)

    def on_unmount(self) -> None:
        """Let the sampler go."""
        self._link.close()

    def on_frame_arrived(self, message: FrameArrived) -> None:
        """Remember the frame; show it unless the picture is held."""
        frame = message.frame
        self._newest, self._heard_s = frame, self._clock()
        self.main.heard(frame)
        self._known.update((gpu.uuid, gpu) for gpu in frame.gpus if gpu.state is GpuState.OK)
        self.view.history.remember(frame)
        self.view.tracks.remember(frame)
        self.view = replace(self.view, down=None, age_s=None, retry_s=None, interval_s=frame.interval_s)
        self._show_frame()

    def on_link_went_down(self, message: LinkWentDown) -> None:
        """Grey the values, and say why; leave if there never were any and never will be."""
        if self._newest is None and message.down.retry_s is None:
            self.exit(message.down)
        self._heard_s = self._clock()
        self._show(down=message.down, retry_s=message.down.retry_s)

    def on_change_ended(self, message: ChangeEnded) -> None:
        """Show how a change ended."""
        self.main.change_ended(message.outcome)

    def on_inspection_arrived(self, message: InspectionArrived) -> None:
        """Hand it to the screen of the process."""
        for screen in self.screen_stack:
            if isinstance(screen, ProcessScreen):
                screen.take(message.inspection)

    def on_change_wanted(self, message: ChangeWanted) -> None:
        """Ask the sampler for a change; the screen and the sampler look at read-only as well."""
        if not self.options.settings.read_only:
            self._link.send(message.change)

    def on_signal_wanted(self, message: SignalWanted) -> None:
        """Ask which signal a process is to get."""
        self.main.ask_for(message.process, is_kill=message.is_kill)

    def check_age(self) -> None:
        """Tell how old the frame is, when it is late."""
        since_s = self._clock() - self._heard_s
        down = self.view.down
        if down is not None:
            retry_s = None if down.retry_s is None else max(0.0, round(down.retry_s - since_s))
            self._show_age(retry_s=retry_s)
        elif self._newest is not None and since_s > _LATE * self.view.interval_s + 0.5:
            self._show_age(age_s=float(round(since_s)))

    def on_gpu_panel_picked(self, message: GpuPanel.Picked) -> None:
        """Look at the clicked GPU."""
        self.action_focus_gpu(message.index)

    def on_settings_changed(self, message: SettingsChanged) -> None:
        """Show what somebody changes."""
        if message.after.theme != message.before.theme:
            self.action_theme(message.after.theme)
        self._show(density=Density(message.after.density))

    def action_help(self) -> None:
        """Show the help page."""
        is_ascii, is_read_only = self.options.is_ascii, self.options.settings.read_only
        self.push_screen(HelpScreen(is_ascii=is_ascii, is_read_only=is_read_only, actions=self.keymap.actions))

    def action_detail(self) -> None:
        """Show all of the GPU that is looked at, or that the selected process is on, or of the first."""
        row = self.main.processes.selected
        wanted = self.view.focus if self.view.focus is not None or row is None else row.use.gpu_index
        gpus = [gpu for gpu in self.view.gpus if wanted in {None, gpu.index}] or list(self.view.gpus)
        if gpus:
            self.push_screen(GpuScreen(gpus[0], is_ascii=self.options.is_ascii))

    def action_process(self, part: str = "") -> None:
        """Show all of the selected process, from a part of it on; without a selection show the GPU."""
        entry, frame = self.main.processes.selected_entry, self.view.frame
        process = pointed_at(entry, frame) if entry is not None and frame is not None else None
        if process is not None:
            self.push_screen(ProcessScreen(process, self.view, self._link.send, part=part, clock=self._clock))
        elif part:
            self.notify("no process is selected: choose one with the arrow keys", markup=False, timeout=2)
        else:
            self.action_detail()

    async def action_quit(self) -> None:
        """Leave at once."""
        self.exit()

    def action_step_back(self) -> None:
        """Take back the last narrowing."""
        if not (self.main.untag() or self.main.processes.clear_cursor() or self.main.finder.clear()):
            self._show(focus=None)

    def action_read_now(self) -> None:
        """Ask for a sample."""
        self._link.send(ReadNow())

    def action_interval(self, step: int) -> None:
        """Take the next longer or shorter interval; in a tree or group unfold or fold."""
        if self.main.processes.fold(is_open=step > 0):
            return
        now = self.view.interval_s
        nearest = min(range(len(INTERVALS)), key=lambda at: abs(INTERVALS[at] - now))
        chosen = INTERVALS[max(0, min(len(INTERVALS) - 1, nearest + step))]
        self._link.send(SetInterval(chosen))
        self._show(interval_s=chosen)

    def action_density(self) -> None:
        """Take the next size of the GPU panel."""
        order = list(Density)
        density = order[(order.index(self.view.density) + 1) % len(order)]
        self._show(density=density)
        self.notify(f"GPU panel: {density.value}", markup=False, timeout=2)

    def action_focus_gpu(self, index: int) -> None:
        """Look at one GPU, or at all again."""
        if any(gpu.index == index for gpu in self.view.gpus):
            self._show(focus=None if self.view.focus == index else index)
        else:
            self.notify(f"there is no GPU {index}", markup=False, timeout=2)

    def action_pause(self) -> None:
        """Hold the picture, or show the newest frame again."""
        self.view = replace(self.view, is_paused=not self.view.is_paused)
        self._show_frame()

    def _receive(self, news: News) -> None:
        """Post what the link delivers, from the link's thread."""
        match news:
            case Frame():
                self.post_message(FrameArrived(news))
            case Down():
                self.post_message(LinkWentDown(news))
            case Outcome():
                self.post_message(ChangeEnded(news))
            case Inspection():
                self.post_message(InspectionArrived(news))

    def _runner(self, run: str) -> Callable[[], Any]:
        async def run_it() -> None:
            await self.run_action(run)

        return run_it

    def _show_frame(self) -> None:
        self._show() if self.view.is_paused else self._show(frame=self._newest)

    def _show(self, **changes: Any) -> None:  # noqa: ANN401 - the fields of View
        self.view = replace(self.view, **changes)
        self.main.show(self.view)
        for screen in self.screen_stack:
            if isinstance(screen, GpuScreen):
                self._show_detail(screen)
            elif isinstance(screen, ProcessScreen):
                screen.show(self.view)

    def _show_detail(self, detail: GpuScreen) -> None:
        for gpu in self.view.gpus:
            if gpu.uuid == detail.gpu.uuid:
                detail.show(gpu)

    def _show_age(self, **changes: Any) -> None:  # noqa: ANN401 - the fields of View
        was_grey = self.view.is_grey
        view = replace(self.view, **changes)
        if view != self.view:
            self.view = view
            self.main.show_age(view) if was_grey else self.main.show(view)
