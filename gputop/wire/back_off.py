"""The pauses before a sampler that died is started again."""

from typing import Final

_PAUSES_S: Final = (0.0, 0.0, 0.0, 1.0, 2.0, 5.0, 10.0, 30.0)
_LONGEST_AFTER_FRAMES_S: Final = 1.0
_STEADY: Final = 10  # frames


class BackOff:
    """Chooses the pauses: none at first, then longer ones while samplers die one after the other.

    Pauses of more than a second come only while samplers die before their first frame. A sampler that delivered 10
    frames starts the count anew. ``barren``: how many died in a row without a frame.
    """

    def __init__(self) -> None:
        self._deaths = 0
        self.barren = 0

    def pause_s(self, frames: int) -> float:
        """Return the pause after the death of a sampler that delivered so many frames."""
        self.barren = 0 if frames else self.barren + 1
        self._deaths = 1 if frames >= _STEADY else self._deaths + 1
        pause_s = _PAUSES_S[min(self._deaths, len(_PAUSES_S)) - 1]
        return min(pause_s, _LONGEST_AFTER_FRAMES_S) if frames else pause_s
