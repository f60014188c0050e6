"""Backend of a simulated box."""

import time

from gputop.app.backend.backend import Backend, BackendRequest, OpenSource, Viewer
from gputop.app.backend.real import opened
from gputop.app.errors import BadRequestError
from gputop.core.monitor import Judging
from gputop.simulator import Box, running, viewer


def box_named(name: str) -> Box:
    """Return the one simulated box of this name in this process."""
    try:
        return running(name)
    except ValueError as error:
        raise BadRequestError(str(error)) from None


class SimulatedBackend(Backend):
    """A simulated box under the machine's real code."""

    notice = "SIMULATED: nothing on this machine changes; each gputop --demo starts from the same state."

    def __init__(self, request: BackendRequest, name: str) -> None:
        self._request = request
        self._name = name

    def source(self, *, is_once: bool) -> OpenSource:
        """Return the source of samples."""
        from gputop.simulator.source import source_of_box

        request, box = self._request, box_named(self._name)
        source = source_of_box(box, request.selection, request.every_s, is_once=is_once, reveal=request.reveal)
        return opened(source)

    def judge(self, judge: Judging, *, waits: bool) -> Judging:
        """Return the judge with the minutes before the start of the box."""
        from gputop.simulator.past import JudgeWithPast, show_past

        if not waits:
            return JudgeWithPast(judge, self._name, self._request.selection)
        show_past(judge, self._name, self._request.selection, time.time(), time.time)
        return judge

    def viewer(self) -> Viewer:
        """Return the user of the box."""
        return Viewer(viewer(self._name))
