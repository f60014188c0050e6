"""The playback that the user requested, and the frames that are due at an instant."""

from collections.abc import Callable, Iterator
from math import inf
from typing import Final

from msgspec.structs import replace

from gputop.core.model.sample import Frame
from gputop.core.recording.playback import SPEEDS, Playing, Stretch
from gputop.wire.tape.position import Position
from gputop.wire.tape.reader import Moment, Tape

_BUSY_S: Final = 0.08  # limit for reading before something is shown
_PAUSE_S: Final = 1 / 15  # between two batches of frames
_LONG_GAP_S: Final = 10.0
_SHORT_WAIT_S: Final = 2.0
_JUDGED_NOW: Final = "recorded without findings: gputop judges it now"
_NO_FINDING: Final = "no further finding recorded; gputop analyse FILE judges it anew"


class Playback:
    """Plays a recording. ``clock``: monotonic seconds. All methods but `take` only store the request."""

    def __init__(self, tape: Tape, clock: Callable[[], float]) -> None:
        self._note = "" if tape.judging is None else _JUDGED_NOW
        self.playing = Playing(length_s=tape.length_s, frames=tape.frames, is_playing=True, note=self._note)
        self._tape = tape
        self._clock = clock
        self._position = Position(tape, clock)
        self._goal: int | None = 0
        self._steps = 0
        self._search: Iterator[Moment] | None = None
        self._searched_from = 0
        self._found: set[tuple[object, ...]] = set()
        self._has_news = False
        self._due_s = clock()  # the time at which the shown frame was due
        self._shown_s = -inf
        self._reported = 0  # number of problems of the recording

    # --- requests --------------------------------------------------------------------------------------------------
    def play(self) -> None:
        """Play, or pause; at the end start again."""
        is_playing = not self.playing.is_playing
        if is_playing and self.playing.is_over:
            self._goal = 0
        self._change(is_playing=is_playing)

    def step(self, frames: int) -> None:
        """Pause, this many frames later or earlier."""
        self._change(is_playing=False)
        if frames > 0 and self._goal is None:
            self._steps += frames
        else:
            self._set_goal(self._here + frames)

    def move(self, seconds: float) -> None:
        """Continue this many seconds later or earlier; at least one frame."""
        here = self._here
        number = self._tape.number_at(max(0.0, self._tape.at(here) + seconds))
        self._change()
        self._set_goal(max(number, here + 1) if seconds > 0 else min(number, here - 1))

    def go(self, at_s: float) -> None:
        """Continue from this position."""
        self._change()
        self._set_goal(self._tape.number_at(at_s))

    def faster(self, steps: int) -> None:
        """Select the next higher or lower speed."""
        at = SPEEDS.index(self.playing.speed) + steps
        self._change(speed=SPEEDS[max(0, min(len(SPEEDS) - 1, at))])

    def loop(self) -> None:
        """Start again at the end, or do not."""
        self._change(loops=not self.playing.loops)

    def find(self) -> None:
        """Pause at the next frame with a finding that is not in this one."""
        self._change(is_playing=False)
        self._searched_from = self._here
        self._search = self._tape.play(self._searched_from + 1)
        self._change(is_seeking=True)

    # --- frames that are due ---------------------------------------------------------------------------------------
    def due_s(self) -> float | None:
        """Return the seconds until `take` has a result; None: not before a request."""
        is_requested = self._goal is not None or self._search is not None or self._steps > 0
        if is_requested or self._has_news or self._position.is_leading:
            return 0.0
        if not self.playing.is_playing:
            return None
        now = self._clock()
        wait_s = 0.0 if self._position.next is None else self._wait_s(self._position.next, now)
        return max(0.0, wait_s, self._shown_s + _PAUSE_S - now)

    def take(self) -> Stretch | None:
        """Return what is due; None if nothing is."""
        if self._search is not None:
            self._continue_search(self._search)
        goal, self._goal = self._goal, None
        has_news, self._has_news = self._has_news, False
        if goal is not None:
            return self._jump(goal)
        if self._position.is_leading:
            return self._lead()
        frames = self._stepped() if self._steps else self._due() if self.playing.is_playing else []
        self._report_problems()
        if not (frames or has_news):
            return None
        return Stretch(self.playing, tuple(frames), frames[-1] if frames else None)

    def _jump(self, goal: int) -> Stretch:
        self._steps = 0
        self._position.jump(goal)
        here = self._position.here
        if here is not None:
            self._set_here(here, self._clock())
        self._report_problems()
        return Stretch(self.playing, shown=None if here is None else here.frame)

    def _lead(self) -> Stretch:
        """Return some of the frames before the shown one, for the plots."""
        frames, is_jump = self._position.lead(_BUSY_S)
        self._due_s = self._clock()
        self._report_problems()
        here = self._position.here if self._tape.judging is not None and not self._position.is_leading else None
        return Stretch(self.playing, frames, shown=None if here is None else here.frame, is_jump=is_jump)

    def _stepped(self) -> list[Frame]:
        """Return the frames that a step skipped."""
        frames: list[Frame] = []
        while self._steps and self._position.next is not None:
            frames.append(self._position.next.frame)
            self._advance(self._clock())
            self._steps -= 1
        self._steps = 0
        return frames

    def _due(self) -> list[Frame]:
        """Return the frames that are due, as many as can be read in `_BUSY_S`."""
        frames: list[Frame] = []
        began_s = self._clock()
        while self._position.next is not None and self._wait_s(self._position.next, began_s) <= 0:
            frames.append(self._position.next.frame)
            self._shown_s = began_s
            self._advance(self._due_s + self._gap_s(self._position.next) / self.playing.speed)
            if self._clock() - began_s > _BUSY_S:
                self._due_s = self._clock()  # slower than requested, but without a rush afterwards
                break
        if self._position.next is None:
            self._end()
        return frames

    def _end(self) -> None:
        if self.playing.loops:
            self._goal = 0
        else:
            self._change(is_playing=False, note=self.playing.note)

    def _continue_search(self, search: Iterator[Moment]) -> None:
        """Continue the search for a short time; a key press stops it."""
        began_s = self._clock()
        for moment in search:
            keys = _keys(moment.frame)
            if keys - self._found:
                self._end_search(moment.number, "")
                return
            self._found = keys
            if self._clock() - began_s > _BUSY_S:
                self._change(at_s=moment.at_s, number=moment.number, is_seeking=True)
                return
        self._end_search(self._searched_from, _NO_FINDING)

    def _end_search(self, number: int, note: str) -> None:
        self._search = None
        self._set_goal(number)
        self._change(note=note)

    # --- position --------------------------------------------------------------------------------------------------
    @property
    def _here(self) -> int:
        """The number of the frame that is or will be shown."""
        return self.playing.number + self._steps if self._goal is None else self._goal

    def _set_goal(self, number: int) -> None:
        self._goal = max(0, min(number, self.playing.frames - 1))

    def _change(self, *, is_seeking: bool = False, note: str = "", **changes: object) -> None:
        """Report a change of the playback; cancel the search."""
        if self._search is not None and not is_seeking:
            self._search = None
            self._goal = self.playing.number if self._goal is None else self._goal
        self.playing = replace(self.playing, is_seeking=is_seeking, note=note or self._note, **changes)
        self._due_s = self._clock()
        self._has_news = True

    def _advance(self, due_s: float) -> None:
        self._position.advance()
        if self._position.here is not None:
            self._set_here(self._position.here, due_s)

    def _set_here(self, moment: Moment, due_s: float) -> None:
        self.playing = replace(self.playing, at_s=moment.at_s, number=moment.number)
        self._found = _keys(moment.frame)
        self._due_s = due_s

    def _report_problems(self) -> None:
        """Report the damage of the recording that was found."""
        problems = self._tape.problems
        if len(problems) > self._reported:
            self._reported = len(problems)
            self.playing = replace(self.playing, note=problems[-1])

    def _wait_s(self, moment: Moment, now: float) -> float:
        """Return the time until a frame is due."""
        return self._due_s + self._gap_s(moment) / self.playing.speed - now

    def _gap_s(self, moment: Moment) -> float:
        """Return the time from the shown frame to the next; a long gap is shortened."""
        gap_s = moment.at_s - self.playing.at_s
        return _SHORT_WAIT_S if gap_s > max(_LONG_GAP_S, 5 * moment.frame.interval_s) else gap_s


def _keys(frame: Frame) -> set[tuple[object, ...]]:
    return {finding.key for finding in frame.findings}
