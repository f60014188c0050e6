"""A tape deck without a motor: what is asked of it, and the frames that are due at an instant."""

from collections.abc import Callable, Iterator
from math import inf
from typing import Final

from msgspec.structs import replace

from gputop.core.playback import SPEEDS, Playing, Stretch
from gputop.core.sample import Frame
from gputop.wire.tape.reader import Moment, Tape

_REMEMBERED: Final = 600  # frames before a jump's: the plots show as many on the widest of screens
_PATIENCE_S: Final = 0.5  # spent on them, if a frame takes as long as those before
_BUSY_S: Final = 0.08  # spent on reading before something is shown
_BREATH_S: Final = 1 / 15  # between two stretches
_LONG_GAP_S: Final = 10.0
_SHORT_WAIT_S: Final = 2.0


class Deck:
    """Plays a tape. ``clock``: seconds that only grow. Methods but `take` only note what is wanted."""

    def __init__(self, tape: Tape, clock: Callable[[], float]) -> None:
        self.playing = Playing(length_s=tape.length_s, frames=tape.frames, is_playing=True)
        self._tape = tape
        self._clock = clock
        self._ahead: Iterator[Moment] = iter(())
        self._next: Moment | None = None
        self._goal: int | None = 0
        self._hunt: Iterator[Moment] | None = None
        self._hunted_from = 0
        self._has_news = False
        self._found: set[tuple[object, ...]] = set()
        self._due_s = clock()  # when the frame that is shown was due
        self._shown_s = -inf
        self._cost_s = 0.0
        self._told = 0  # of the tape's problems

    # --- what is asked ---------------------------------------------------------------------------------------------
    def play(self) -> None:
        """Go on, or hold; at the end begin again."""
        is_playing = not self.playing.is_playing
        if is_playing and self.playing.is_over:
            self._goal = 0
        self._change(is_playing=is_playing)

    def step(self, frames: int) -> None:
        """Hold, so many frames on or back."""
        here = self.playing.number if self._goal is None else self._goal
        self._aim(here + frames)
        self._change(is_playing=False)

    def move(self, seconds: float) -> None:
        """Go on from so many seconds later or earlier; one frame at least."""
        here = self.playing.number if self._goal is None else self._goal
        at_s = self.playing.at_s if self._goal is None else self._at(self._goal)
        number = self._tape.number_at(max(0.0, at_s + seconds))
        self._aim(max(number, here + 1) if seconds > 0 else min(number, here - 1))
        self._change()

    def go(self, at_s: float) -> None:
        """Go on from this place."""
        self._aim(self._tape.number_at(at_s))
        self._change()

    def faster(self, steps: int) -> None:
        """Take a higher or lower one of the speeds."""
        at = SPEEDS.index(self.playing.speed) + steps
        self._change(speed=SPEEDS[max(0, min(len(SPEEDS) - 1, at))])

    def loop(self) -> None:
        """Begin again at the end, or do not."""
        self._change(loops=not self.playing.loops)

    def find(self) -> None:
        """Hold at the next frame with a finding that is not in this one."""
        self._hunt = self._tape.play(self.playing.number + 1)
        self._hunted_from = self.playing.number
        self._change(is_playing=False, is_seeking=True)

    # --- what is due -----------------------------------------------------------------------------------------------
    def due_s(self) -> float | None:
        """Return in how many seconds `take` has something; None: not before something is asked."""
        if self._goal is not None or self._hunt is not None or self._has_news:
            return 0.0
        if not self.playing.is_playing:
            return None
        now = self._clock()
        wait_s = 0.0 if self._next is None else self._wait_s(self._next, now)
        return max(0.0, wait_s, self._shown_s + _BREATH_S - now)

    def take(self) -> Stretch | None:
        """Return the frames that are due, and where the tape is then; None where nothing is due."""
        if self._hunt is not None:
            self._go_on_hunting(self._hunt)
        goal, self._goal = self._goal, None
        has_news, self._has_news = self._has_news, False
        if goal is not None:
            return self._jump(goal)
        frames = self._due() if self.playing.is_playing else []
        return Stretch(tuple(frames), self.playing) if frames or has_news else None

    def _jump(self, goal: int) -> Stretch:
        """Go to a frame, with those before it."""
        count = _REMEMBERED if not self._cost_s else int(max(1.0, min(_REMEMBERED, _PATIENCE_S / self._cost_s)))
        first = max(0, goal - count)
        began_s = self._clock()
        self._ahead = self._tape.play(first)
        frames: list[Frame] = []
        last: Moment | None = None
        for moment in self._ahead:
            frames.append(moment.frame)
            last = moment
            if moment.number >= goal:
                break
        self._cost_s = (self._clock() - began_s) / max(1, len(frames))
        if last is not None:
            self._stand(last, self._clock())
        self._look_ahead()
        return Stretch(tuple(frames), self.playing, is_jump=True)

    def _due(self) -> list[Frame]:
        """Return the frames whose time has come, as far as they can be read in a moment."""
        frames: list[Frame] = []
        began_s = self._clock()
        while self._next is not None and self._wait_s(self._next, began_s) <= 0:
            moment = self._next
            frames.append(moment.frame)
            self._stand(moment, self._due_s + self._gap_s(moment) / self.playing.speed)
            self._look_ahead()
            if self._clock() - began_s > _BUSY_S:
                self._due_s = self._clock()  # slower than was asked for, but without haste afterwards
                break
        self._shown_s = began_s
        if self._next is None:
            self._end()
        return frames

    def _end(self) -> None:
        if self.playing.loops:
            self._goal = 0
        else:
            self._change(is_playing=False, note=self.playing.note)

    def _go_on_hunting(self, hunt: Iterator[Moment]) -> None:
        """Look on for a while; a key that is pressed meanwhile ends it."""
        began_s = self._clock()
        for moment in hunt:
            keys = _keys(moment.frame)
            if keys - self._found:
                self._hunted(moment.number, "")
                return
            self._found = keys
            if self._clock() - began_s > _BUSY_S:
                self._change(at_s=moment.at_s, number=moment.number, is_seeking=True)
                return
        self._hunted(self._hunted_from, "no further finding on this tape")

    def _hunted(self, number: int, note: str) -> None:
        self._hunt = None
        self._aim(number)
        self._change(note=note)

    def _aim(self, number: int) -> None:
        self._goal = max(0, min(number, self.playing.frames - 1))

    def _at(self, number: int) -> float:
        moment = next(self._tape.play(number), None)
        return self.playing.at_s if moment is None else moment.at_s

    def _change(self, *, is_seeking: bool = False, note: str = "", **changes: object) -> None:
        """Tell of something else; what was looked for is given up."""
        if self._hunt is not None and not is_seeking:
            self._hunt = None
            self._goal = self.playing.number if self._goal is None else self._goal
        self.playing = replace(self.playing, is_seeking=is_seeking, note=note, **changes)
        self._due_s = self._clock()
        self._has_news = True

    def _stand(self, moment: Moment, due_s: float) -> None:
        self.playing = replace(self.playing, at_s=moment.at_s, number=moment.number)
        self._found = _keys(moment.frame)
        self._due_s = due_s

    def _look_ahead(self) -> None:
        """Read the next frame; tell what turned out to be damaged."""
        self._next = next(self._ahead, None)
        problems = self._tape.problems
        if len(problems) > self._told:
            self._told = len(problems)
            self.playing = replace(self.playing, note=problems[-1])

    def _wait_s(self, moment: Moment, now: float) -> float:
        """Return how long it is until a frame is due."""
        return self._due_s + self._gap_s(moment) / self.playing.speed - now

    def _gap_s(self, moment: Moment) -> float:
        """Return the time from the frame that is shown to the next; nobody waits for the end of a long gap."""
        gap_s = moment.at_s - self.playing.at_s
        return _SHORT_WAIT_S if gap_s > max(_LONG_GAP_S, 5 * moment.frame.interval_s) else gap_s


def _keys(frame: Frame) -> set[tuple[object, ...]]:
    return {finding.key for finding in frame.findings}
