"""Opens the machine, or a simulated box, as the options say."""

import argparse
from collections.abc import Callable
from typing import Protocol

from gputop.cli.args.exits import BAD_INPUT, NO_DRIVER, fail
from gputop.cli.args.options import USUAL_INTERVAL_S, selection
from gputop.cli.backend.judging import judge
from gputop.core.model.sample import Frame
from gputop.core.monitor import Judging, Monitor, Source
from gputop.core.query.selection import Selection
from gputop.machine.nvml.driver import NoDriverError
from gputop.machine.source import MachineSource


class Opened(Source, Protocol):
    """A source whose GPUs are found."""

    def look_again(self, uuid: str) -> None:
        """Look at the layout of a GPU anew with the next reading: somebody has changed it."""
        ...


def opened(options: argparse.Namespace, *, is_once: bool) -> Opened:
    """Return the source of samples, its GPUs found; end the program in words where there are none to be had.

    ``is_once``: somebody waits for one sample; slow GPUs get their time.
    """
    if options.source is not None:
        from gputop.cli.backend.plugin_source import opened_source

        return opened_source(options, is_once=is_once)
    try:
        source = machine(selection(options), options.interval or USUAL_INTERVAL_S, options.demo, is_once=is_once)
        source.open()
    except NoDriverError as error:
        fail(NO_DRIVER, f"{error} What exactly is wrong: gputop doctor. To look around without a GPU: gputop --demo")
    except ValueError as error:
        fail(BAD_INPUT, str(error))
    return source


def machine(selected: Selection, interval_s: float, demo: str | None, *, is_once: bool) -> MachineSource:
    """Return the source of this machine or of a simulated box. Raises ValueError for an unknown box."""
    if demo is None:
        from gputop.machine.build import build

        return build(selected, interval_s, is_once=is_once)
    from gputop.simulator import running
    from gputop.simulator.source import source_of_box

    return source_of_box(running(demo), selected, interval_s, is_once=is_once)


def monitored(
    source: Source,
    options: argparse.Namespace,
    *,
    is_once: bool = False,
    tell: Callable[[str], None] | None = None,
) -> Callable[[], Frame]:
    """Return what makes the next frame, with those processes only that the options ask for.

    ``tell``: is told in one line that the configuration has mistakes.
    """
    step = Monitor(source, _judge(options, is_once=is_once, tell=tell)).step
    if not options.where:
        return step
    from functools import reduce

    from gputop.core.query.query import kept

    return lambda: reduce(kept, options.where, step())


def _judge(options: argparse.Namespace, *, is_once: bool, tell: Callable[[str], None] | None) -> Judging:
    """Return the judge; that of a simulated box is told what came before, unless it can use one look only."""
    made = judge(is_once=is_once, tell=tell)
    if options.demo is None or is_once:
        return made
    from gputop.cli.backend.simulated_past import JudgeWithPast

    return JudgeWithPast(made, options.demo, selection(options))
