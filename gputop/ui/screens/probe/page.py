"""Probe page: choose devices to test, follow the run, and stop it at any time."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from gputop.core.model.units import duration_text
from gputop.core.probing.progress import Prober, Run, Wish
from gputop.core.probing.wording import WORDS
from gputop.ui.render.line import Line
from gputop.ui.screens.dialogs.modal import SCROLLS
from gputop.ui.screens.mig.lines import paragraph
from gputop.ui.screens.pages.page import Page
from gputop.ui.screens.probe.lines import choice_lines, report_lines, running_lines
from gputop.ui.state.probe_choice import CPUS, candidates, first_choice
from gputop.ui.state.signal_followup import Clock
from gputop.ui.state.view import View

_NO_PROBE = (
    "No tests are installed. Install them from a checkout of gputop: pip install ./plugins/cuda-probe. List the "
    "installed plugins: gputop plugins"
)


class ProbeScreen(Page):
    """Shows the current run; without a run, or on request, the choice of devices. Leaving the page stops nothing.

    ``begin``: starts a run.
    """

    TAKES: ClassVar[Mapping[str, str]] = {
        "back": "close", "quit": "close", "probe": "close", "help": "show_help", **SCROLLS, "up": "move(-1)",
        "down": "move(1)", "left": "change_level(-1)", "right": "change_level(1)", "tag": "toggle", "accept": "go_on",
        "yes": "insist", "probe-stop": "stop",
    }  # fmt: skip
    is_full = True

    def __init__(self, prober: Prober, view: View, begin: Callable[[Wish], None], *, clock: Clock) -> None:
        super().__init__()
        self._prober = prober
        self._view = view
        self._begin = begin
        self._clock = clock
        self.is_choosing = prober.run is None
        self.choice = first_choice(view.frame)
        self.at = 0

    @property
    def run(self) -> Run | None:
        """The shown run; None while the user chooses."""
        return None if self.is_choosing else self._prober.run

    def follow(self, view: View) -> None:
        """Draw the present values of the GPUs."""
        self._view = view
        self.redraw()

    def title_line(self) -> str:
        """Return the state of the run."""
        run = self.run
        if run is None:
            return "Probe"
        level = f"Probe · {run.wish.level.value}"
        if run.report is not None:
            return f"{level} · {WORDS[run.report.status][0]} · took {duration_text(run.report.duration_s)}"
        if run.problem:
            return f"{level} · did not run"
        state = "stopping" if run.is_stopping else run.course.text
        return f"{level} · {state} · for {duration_text(max(0.0, self._clock() - run.began_s))}"

    def keys_line(self) -> str:
        """Return the keys and the number of lines below."""
        name, run = self.name_of, self.run
        more = f"{self.rest} more below · " if self.rest > 0 else ""
        if self._prober.probe is None:
            return f"{name('back')} close"
        if run is None:
            start = name("yes") if self.choice.in_use(candidates(self._view.frame)) else name("accept")
            return (
                f"{more}{start} start · {name('left')} {name('right')} level · {name('up')} {name('down')} "
                f"{name('tag')} select · {name('back')} close"
            )
        if run.is_over:
            return f"{more}{name('accept')} new run · {name('up')} {name('down')} device · {name('back')} close"
        stop = "" if run.is_stopping else f"{name('probe-stop')} stop · "
        return f"{more}{stop}{name('up')} {name('down')} device · {name('back')} close, the run goes on"

    def page(self, width: int, height: int) -> Sequence[Line]:
        """Return the choice, the running tests, or the report."""
        probe, run, frame = self._prober.probe, self.run, self._view.frame
        if probe is None:
            return paragraph(_NO_PROBE, width, "warm")
        if run is None:
            is_simulated = frame is not None and frame.driver.simulated is not None
            return choice_lines(probe, self.choice, candidates(frame), is_simulated=is_simulated, width=width)
        questions = {test.key: test.question for test in probe.tests}
        if run.problem:
            return paragraph(run.problem, width, "warm")
        if run.report is not None:
            return report_lines(run.report, questions, self.at, width)
        gpus = [self._view.values(gpu) for gpu in self._view.gpus]
        return running_lines(run, questions, gpus, at=self.at, size=(width, height))

    def toggle(self) -> None:
        """Select or deselect the marked device."""
        if self.is_choosing:
            uuids = self._uuids()
            self.choice = self.choice.toggled(uuids[min(self.choice.at, len(uuids) - 1)])
            self.redraw()

    def go_on(self) -> None:
        """Start the run unless a selected GPU is in use; after a run, choose again."""
        run = self.run
        if run is not None and run.is_over:
            self.is_choosing = True
            self.choice = first_choice(self._view.frame)
            self.redraw()
        elif run is None and self.choice.in_use(candidates(self._view.frame)):
            self._say(f"a GPU is in use: only {self.name_of('yes')} tests it anyway")
        elif run is None:
            self._start()

    def insist(self) -> None:
        """Start the run even if a selected GPU is in use."""
        if self.run is None:
            self._start()

    def stop(self) -> None:
        """Stop the run and show its results so far."""
        if self.run is not None and not self.run.is_over:
            self._prober.stop()
            self.redraw()

    def _start(self) -> None:
        if self._prober.probe is None:
            return
        if not self.choice.chosen:
            self._say(f"Select a device first: {self.name_of('tag')} selects the marked one.")
            return
        self.is_choosing, self.at, self.top = False, 0, 0
        self._begin(self.choice.wish(candidates(self._view.frame)))
        self.redraw()

    def change_level(self, step: int) -> None:
        """Take the next or previous level."""
        if self.is_choosing:
            self.choice = self.choice.leveled(step)
            self.redraw()

    def move(self, step: int) -> None:
        """Move the cursor to another device."""
        run = self.run
        if run is None:
            self.choice = self.choice.moved(step, len(self._uuids()))
        else:
            devices = run.report.devices if run.report is not None else run.course.devices
            self.at = max(0, min(len(devices) - 1, self.at + step))
        self.redraw()

    def _uuids(self) -> list[str]:
        return [*(one.uuid for one in candidates(self._view.frame)), CPUS]

    def _say(self, text: str) -> None:
        self.notify(text, severity="warning", timeout=4)
