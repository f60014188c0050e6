"""A position in a recording: the shown frame, the next one, and the frames to read before it after a jump."""

from collections.abc import Callable, Iterator
from typing import Final

from gputop.core.model.sample import Frame
from gputop.wire.tape.reader import Moment, Tape

_MOST_BEFORE: Final = 3600  # frames read before the shown one: the history page shows as many
_FIRST_BEFORE: Final = 600  # while the cost of a frame is unknown
_LEAST_BEFORE: Final = 60
_PATIENCE_S: Final = 1.5  # time limit for them, if they take as long as those of the previous jump
_SEARCHED: Final = 240  # frames among which the last intact one is searched for


class Position:
    """Moves through a recording. ``here``: the shown moment; ``next``: the one after it, if there is one."""

    def __init__(self, tape: Tape, clock: Callable[[], float]) -> None:
        self.here: Moment | None = None
        self.next: Moment | None = None
        self._tape = tape
        self._clock = clock
        self._ahead: Iterator[Moment] = iter(())
        self.is_leading = False
        self._is_first = False
        self._cost_s = 0.0

    def jump(self, goal: int) -> None:
        """Go to a frame; if it is damaged, to the next intact one, else to the last."""
        self.here = next(self._tape.play(goal), None)
        if self.here is None:
            for moment in self._tape.play(max(0, goal - _SEARCHED)):
                self.here = moment
        shown = goal if self.here is None else self.here.number
        count = _FIRST_BEFORE if not self._cost_s else int(_PATIENCE_S / self._cost_s)
        self._ahead = self._tape.play(max(0, shown - max(_LEAST_BEFORE, min(_MOST_BEFORE, count))))
        self.is_leading = self._is_first = True
        self.next = None

    def lead(self, most_s: float) -> tuple[tuple[Frame, ...], bool]:
        """Read some of the frames before this one, ending with the shown one.

        Return them, and whether they are the first.
        """
        began_s, frames, is_first = self._clock(), [], self._is_first
        self._is_first = False
        for moment in self._ahead:
            frames.append(moment.frame)
            if self.here is None or moment.number >= self.here.number:
                self.is_leading = False
                if self.here is not None and moment.number == self.here.number:
                    self.here = moment  # judged with the frames before it
                break
            if self._clock() - began_s > most_s:
                break
        else:
            self.is_leading = False
        self._cost_s = (self._clock() - began_s) / max(1, len(frames))
        if not self.is_leading:
            self.next = next(self._ahead, None)
        return tuple(frames), is_first

    def advance(self) -> None:
        """Go to the next frame."""
        self.here = self.next
        self.next = next(self._ahead, None)
