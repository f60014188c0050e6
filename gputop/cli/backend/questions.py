"""Looks at processes, of this machine or of a simulated box; nothing is imported before somebody looks."""

import argparse
from collections.abc import Callable
from functools import cache
from typing import Final

from gputop.core.inspection.inspection import Inspection
from gputop.core.protocol.command import Inspect, ReadStatus
from gputop.core.protocol.process_status import ProcessStatuses

_FOREIGN: Final = "the source of a plugin tells no more of processes than what the table shows"


def opened_lookout(options: argparse.Namespace) -> Callable[[Inspect], Inspection]:
    """Return what answers questions about processes. Looking changes nothing, so --read-only allows it."""

    @cache
    def made() -> Callable[[Inspect], Inspection]:
        if options.demo is None:
            from gputop.machine.inspect.inspector import inspector_of_this_machine

            return inspector_of_this_machine().inspect
        from gputop.simulator import running
        from gputop.simulator.readers import inspector_of_box

        return inspector_of_box(running(options.demo)).inspect

    def look(question: Inspect) -> Inspection:
        if options.source is not None:
            return Inspection(id=question.id, pid=question.pid, problem=_FOREIGN)
        return made()(question)

    return look


def opened_status_reader(options: argparse.Namespace) -> Callable[[ReadStatus], ProcessStatuses]:
    """Return what tells of several processes at once who still runs."""

    @cache
    def made() -> Callable[[ReadStatus], ProcessStatuses]:
        if options.demo is None:
            from gputop.machine.inspect.process_status import process_status_of_this_machine

            return process_status_of_this_machine().read
        from gputop.simulator import running
        from gputop.simulator.readers import process_status_of_box

        return process_status_of_box(running(options.demo)).read

    def look(question: ReadStatus) -> ProcessStatuses:
        if options.source is not None:
            return ProcessStatuses(id=question.id, statuses=())
        return made()(question)

    return look
