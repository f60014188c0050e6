"""A playback in its own thread."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

from examples import frame, process
from recordings import opened, taped

from gputop.core.insight.explanation import Explanation
from gputop.core.insight.member import Member
from gputop.core.inspection.inspection import Inspection
from gputop.core.protocol.command import Explain, Inspect, ReadNow, ReadStatus, SendSignal, Target
from gputop.core.protocol.link import News
from gputop.core.protocol.outcome import Outcome, Status
from gputop.core.protocol.process_status import ProcessStatuses
from gputop.core.recording.playback import Stretch
from gputop.wire.tape.player import TapePlayer

PATIENCE_S = 10.0


class Ear:
    """Hears what a player says, and takes stretches only when it is told to."""

    def __init__(self, player: TapePlayer) -> None:
        self.player = player
        self._heard: Queue[News] = Queue()
        player.open(self._heard.put)

    def hear(self) -> News:
        return self._heard.get(timeout=PATIENCE_S)

    def settled(self) -> int:
        """Take stretches until the frame that is shown was remembered; return its number."""
        shown = None
        while True:
            heard = self.hear()
            assert isinstance(heard, Stretch)
            shown = heard.shown or shown
            if heard.frames and shown is not None and heard.frames[-1] == shown:
                return shown.sequence
            self.player.taken()

    @property
    def is_silent(self) -> bool:
        return self._heard.empty()


@contextmanager
def listening(folder: Path, count: int = 300) -> Iterator[Ear]:
    player = TapePlayer(
        opened(taped(frame(1, (process(4711),), sequence=n) for n in range(count)), folder), lambda: 0.0
    )
    ear = Ear(player)
    try:
        yield ear
    finally:
        player.close()


def test_it_begins_with_the_first_frame_and_obeys(tmp_path: Path) -> None:
    with listening(tmp_path) as ear:
        assert ear.settled() == 0
        ear.player.go(200.0)
        ear.player.taken()

        assert ear.settled() == 200


def test_what_is_asked_before_the_last_stretch_was_shown_comes_as_one(tmp_path: Path) -> None:
    with listening(tmp_path) as ear:
        assert ear.settled() == 0
        for _ in range(50):
            ear.player.step(1)
        assert ear.is_silent
        ear.player.taken()

        assert ear.settled() == 50
        assert ear.is_silent


def test_a_change_of_the_machine_is_refused_since_it_is_a_recording(tmp_path: Path) -> None:
    with listening(tmp_path) as ear:
        assert ear.settled() == 0
        ear.player.send(SendSignal(id="1", signal="SIGTERM", targets=(Target(4711, 47110),)))
        outcome = ear.hear()

        assert isinstance(outcome, Outcome)
        assert (outcome.id, outcome.results[0].status, outcome.results[0].pid) == ("1", Status.REFUSED, 4711)
        assert outcome.results[0].detail == "this is a recording"


def test_questions_are_answered_and_other_commands_mean_nothing(tmp_path: Path) -> None:
    with listening(tmp_path) as ear:
        assert ear.settled() == 0
        ear.player.send(ReadNow())
        ear.player.send(Inspect(id="2", pid=4711))
        ear.player.send(ReadStatus(id="3", targets=(Target(4711, 47110),)))
        inspection, statuses = ear.hear(), ear.hear()

        assert isinstance(inspection, Inspection)
        assert "this is a recording" in inspection.problem
        assert isinstance(statuses, ProcessStatuses)
        assert statuses.statuses[0].is_running is None


def test_a_recording_never_answers_where_its_processes_hang(tmp_path: Path) -> None:
    members = (Member(pid=4711, start_ticks=47110),)
    with listening(tmp_path) as ear:
        assert ear.settled() == 0
        ear.player.send(Explain(id="4", members=members))
        explanation = ear.hear()

        assert isinstance(explanation, Explanation)
        assert (explanation.id, explanation.members, explanation.is_complete) == ("4", members, True)
        assert explanation.problem == "this is a recording: its processes cannot be asked"
