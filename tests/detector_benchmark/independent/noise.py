"""The noise of a process: its work varies from second to second, with a memory of some seconds, as in recordings."""

from random import Random

from detector_benchmark.independent.activity import Activity
from msgspec.structs import replace


class Noise:
    """The noise of one process on one board."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._level = 0.0

    def __call__(self, work: Activity) -> Activity:
        """Return the activity of this second."""
        gauss = self._random.gauss
        self._level = 0.7 * self._level + gauss(0, 0.71 * work.noise)
        factor = max(0.1, 1 + self._level)
        if work.util <= 0 and work.rx <= 0 and work.decoder <= 0:
            return work
        util = work.util
        if 0 < util < 99:
            util = min(100.0, max(0.0, util * factor + gauss(0, 0.25 * work.noise * util)))
        return replace(
            work,
            util=util,
            mc=min(100.0, work.mc * factor),
            share=work.share * factor,
            sm=min(100.0, work.sm * factor),
            tensor=min(100.0, work.tensor * factor),
            dram=min(100.0, work.dram * factor),
            fp64=min(100.0, work.fp64 * factor),
            rx=work.rx * factor * abs(gauss(1, 0.08)),
            tx=work.tx * factor * abs(gauss(1, 0.08)),
            nv=work.nv * factor * abs(gauss(1, 0.1)),
            decoder=min(100.0, work.decoder * factor),
        )
