"""Looks at single processes, of this machine or of a simulated box; nothing is imported before somebody looks."""

import argparse
from collections.abc import Callable
from functools import cache

from gputop.core.command import Inspect
from gputop.core.inspection import Inspection


def opened_lookout(options: argparse.Namespace) -> Callable[[Inspect], Inspection]:
    """Return what answers questions about processes. Looking changes nothing, so --read-only allows it."""

    @cache
    def made() -> Callable[[Inspect], Inspection]:
        from gputop.machine.inspect import inspector

        return inspector(options.demo).inspect

    def look(question: Inspect) -> Inspection:
        return made()(question)

    return look
