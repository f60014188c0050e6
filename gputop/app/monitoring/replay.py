"""Replay: a recording on the screen, as if it were live."""

from gputop.app.backend.backend import Viewer, own_user
from gputop.app.errors import BadRequestError
from gputop.app.monitoring.analysis import opened
from gputop.app.monitoring.judging import judge
from gputop.app.monitoring.screen import Parts, ScreenRequest, configured, has_terminal, run_screen
from gputop.core.recording.playback import PLACES, Playing, place
from gputop.core.text.text import excerpt
from gputop.wire.tape.player import TapePlayer
from gputop.wire.tape.reader import Tape


class ReplayRequest(ScreenRequest, frozen=True, kw_only=True):
    """A screen with the recording at ``path``. ``at``: where to start; None: at the start."""

    path: str
    at: str | None = None


def replay(request: ReplayRequest) -> int:
    """Play the recording until the user quits; return the exit status."""
    tape = opened(request.path)
    if not has_terminal():
        raise BadRequestError(
            "replay needs a terminal. Without one: gputop analyse FILE prints the findings, zcat FILE every frame"
        )
    if not tape.has_findings():
        tape.judging = lambda: judge(is_once=False)
    player = TapePlayer(tape)
    if request.at is not None:
        player.go(_place(request.at, tape))
    return run_screen(player, *configured(request), Parts(viewer=Viewer(own_user()), player=player))


def _place(text: str, tape: Tape) -> float:
    at_s = None if text.startswith("@") else place(text, Playing(length_s=tape.length_s), 0.0)
    if at_s is None:
        raise BadRequestError(f"--at {excerpt(text)}: not a place in a recording: {PLACES.rpartition(', or')[0]}")
    return at_s
