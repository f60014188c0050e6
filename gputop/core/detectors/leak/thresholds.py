"""The dials of the leak detector, in the units of the configuration and in those of the code."""

from collections.abc import Mapping
from typing import Final

from gputop.core.detection.detector import Dial, Kind
from gputop.core.detectors.leak.growth import Shape
from gputop.core.detectors.leak.verdict import Limits
from gputop.core.detectors.leak.waves import Waves
from gputop.core.detectors.leak.wording import Alarm
from gputop.core.detectors.limits import limits_from

_MIB: Final = 1024.0**2

KIND: Final = Kind(
    name="leak",
    question="Does a process leak GPU memory?",
    codes={
        "leak.process": "The GPU memory of a process grows and is not freed.",
        "leak.gpu": "The used memory of a GPU grows and is not freed; the driver does not report the process.",
    },
    remedies={
        "leak.process": "Find what the program keeps: `torch.cuda.memory._record_memory_history()`. To end it: `F9`.",
        "leak.gpu": "Use a memory profiler in the programs of the jobs. `G` shows the memory that processes report.",
    },
    dials=(
        Dial(
            "least_growth_bytes", 64.0 * 1024**2, 1024**2, 1024**4,
            "gputop reports only growth of at least this much.",
        ),
        Dial(
            "observed_s", 600.0, 300.0, 86_400.0,
            "gputop must watch the memory for at least this time before it calls growth a leak.",
        ),
        Dial(
            "least_log_odds", 3.0, 0.0, 20.0,
            "For a leak, the logarithm of the odds that the growth is steady, rather than slowing down, must be at "
            "least this.",
        ),
        Dial(
            "alarm_s", 3600.0, 0.0, 86_400.0,
            "A leak is an alarm if its confidence is high (see sure_percent) and the GPU will be full within this "
            "time.",
        ),
        Dial(
            "fill_s", 21600.0, 0.0, 864_000.0,
            "Growth that would fill the whole GPU within this time may be loading, or a buffer that fills.",
        ),
        Dial(
            "fill_watched_s", 1800.0, 0.0, 86_400.0,
            "Growth as fast as fill_s describes is a leak if it lasts at least this long.",
        ),
        Dial(
            "fill_bytes_per_s", 2.0 * 1024**2, 0.0, 1024**4,
            "Growth at this rate or slower is never taken for loading, nor for a buffer that fills.",
        ),
        Dial("fell_back_percent", 50.0, 1.0, 100.0, "A leak is over when at least this share of its growth is freed."),
        Dial(
            "over_times", 3.0, 1.0, 100.0,
            "A leak is also over if the memory has not grown for longer than this many times the duration of the "
            "growth.",
        ),
        Dial(
            "segments_percent", 80.0, 1.0, 100.0,
            "gputop divides the time into 6 or 8 equal intervals. The memory must grow in at least this share of "
            "them.",
        ),
        Dial(
            "burst_percent", 50.0, 1.0, 100.0,
            "None of the 6 or 8 intervals may contain more than this share of the growth.",
        ),
        Dial(
            "steps", 6.0, 1.0, 100.0,
            "The memory must grow in at least this many steps. Fewer steps look like loading in stages.",
        ),
        Dial(
            "slower_percent", 60.0, 0.0, 100.0,
            "The growth slows down, and is no leak, if its second half is below this share of its first half.",
        ),
        Dial("noise_percent", 35.0, 1.0, 100.0, "Memory is noisy if more than this share of all rises is freed again."),
        Dial(
            "noisy_span_s", 900.0, 60.0, 86_400.0,
            "If the memory is noisy, gputop needs at least this much time to judge it.",
        ),
        Dial(
            "trend_z", 3.0, 0.0, 10.0,
            "The lowest values must rise clearly: in the Mann-Kendall test, Z must be at least this.",
        ),
        Dial(
            "loading_percent", 80.0, 1.0, 100.0,
            "Growth is loading, and no leak, if more than this share of it happens while the GPU is idle.",
        ),
        Dial("sure_percent", 85.0, 1.0, 100.0, "A leak can be an alarm only if its confidence is at least this."),
        Dial(
            "current_s", 120.0, 30.0, 86_400.0,
            "gputop estimates when the GPU will be full only if the memory grew within this time before now.",
        ),
        Dial(
            "still_bytes", 8.0 * 1024**2, 65_536.0, 1024**4,
            "Memory that rises by less than this is constant. The limit is at most half of least_growth_bytes.",
        ),
        Dial(
            "short_span_s", 300.0, 60.0, 340.0,
            "To find a leak in the last 6 minutes, gputop must be able to judge at least this much of them.",
        ),
        Dial(
            "middle_span_s", 900.0, 60.0, 1740.0,
            "To find a leak in the last 30 minutes, gputop must be able to judge at least this much of them.",
        ),
        Dial(
            "life_span_s", 600.0, 60.0, 86_400.0,
            "To find a leak since the start of the process, gputop must be able to judge at least this much time.",
        ),
        Dial("longest_span_s", 1800.0, 60.0, 864_000.0, "For over_times, the growth counts as no longer than this."),
        Dial(
            "votes", 3.0, 1.0, 1000.0,
            "gputop tests the last 6 minutes, the last 30 minutes and the whole time again and again. It reports a "
            "leak if one of the three passes at least this many more tests than it fails.",
        ),
        Dial(
            "teeth_votes", 8.0, 1.0, 1000.0,
            "This value replaces votes if memory is freed in between: random changes then look like growth more "
            "often.",
        ),
        Dial(
            "segment_percent", 12.0, 0.0, 100.0,
            "The memory grows in an interval if its growth is more than this share of the mean growth per interval.",
        ),
        Dial(
            "often_percent", 40.0, 1.0, 100.0,
            "If the memory grows in at least this share of the measurements, each of these measurements is one "
            "step. Otherwise each unbroken rise is one step.",
        ),
        Dial(
            "large_step_times", 3.0, 1.0, 1000.0,
            "A large step of the growth counts as no more than this many usual steps.",
        ),
        Dial(
            "alike_slower_percent", 75.0, 0.0, 100.0,
            "If the steps have similar sizes, the larger of slower_percent and this value applies.",
        ),
        Dial(
            "alike_percent", 25.0, 0.0, 1000.0,
            "Steps have similar sizes if their variance is below this share of the square of their mean.",
        ),
        Dial(
            "stopped_times", 3.0, 0.0, 1000.0,
            "Growth has stopped if the memory has not grown for longer than the longest pause between two steps "
            "plus this many usual pauses.",
        ),
        Dial(
            "tooth_bytes", 64.0 * 1024**2, 1024**2, 1024**4,
            "If the memory rises and falls in cycles: only a fall of at least this much ends a cycle.",
        ),
        Dial(
            "tooth_percent", 30.0, 1.0, 100.0,
            "If the memory rises and falls in cycles: only a fall of at least this share of the rise before it ends "
            "a cycle.",
        ),
        Dial(
            "teeth", 3.0, 2.0, 100.0,
            "If the memory rises and falls in cycles: gputop needs at least this many cycles to judge whether the "
            "lowest points rise.",
        ),
        Dial(
            "falling_percent", 25.0, 0.0, 100.0,
            "If the memory rises and falls in cycles: at most this share of the lowest points may be lower than the "
            "one before.",
        ),
        Dial(
            "overdue_times", 3.0, 1.0, 100.0,
            "Cycles are over if the memory has not fallen for longer than this many times the longest cycle. gputop "
            "then judges only the time since the last fall.",
        ),
        Dial(
            "after_cut_percent", 60.0, 1.0, 100.0,
            "If the memory rises and falls in cycles: gputop leaves out the unfinished last cycle. What remains "
            "must be at least this share of the required time (short_span_s, middle_span_s, life_span_s).",
        ),
        Dial(
            "teeth_left_percent", 50.0, 0.0, 100.0,
            "If the memory rises and falls in cycles: a leak is over when at most this share of what "
            "fell_back_percent lets remain is left. With the defaults, 25% of the growth may remain; without "
            "cycles, 50%.",
        ),
        Dial(
            "waves", 3.0, 2.0, 100.0,
            "If the memory rises and falls at equal intervals (in waves), and there are at least this many waves, "
            "gputop removes them from the curve.",
        ),
        Dial(
            "wave_percent", 35.0, 1.0, 100.0,
            "A fall ends a wave only if it frees at least this share of the difference between the high and the low "
            "values of the curve.",
        ),
        Dial(
            "wave_regular_percent", 25.0, 0.0, 100.0,
            "A wave is regular if its length differs from the usual length by at most this share.",
        ),
        Dial(
            "wave_odd_percent", 25.0, 0.0, 100.0,
            "gputop removes waves only if at most this share of them is not regular (see wave_regular_percent).",
        ),
        Dial(
            "wave_lifted_percent", 50.0, 0.0, 100.0,
            "The lowest points of the waves must rise by at least this share of the growth. If only the peaks rise, "
            "it is no leak.",
        ),
        Dial(
            "wave_span_s", 600.0, 60.0, 86_400.0,
            "After it removes waves, gputop must be able to judge at least this much time.",
        ),
        Dial(
            "wave_growth_times", 2.0, 1.0, 1000.0,
            "After gputop removes waves, the memory must grow by at least this many times least_growth_bytes.",
        ),
    ),
)  # fmt: skip


def limits_of(dials: Mapping[str, float]) -> Limits:
    """Return the dials that decide, in MiB and shares."""
    return limits_from(
        Limits,
        dials,
        growth_mib=dials["least_growth_bytes"] / _MIB,
        odds=dials["least_log_odds"],
        fill_rate=dials["fill_bytes_per_s"] / _MIB,
        kept=1 - dials["fell_back_percent"] / 100,
        spans_s=(dials["short_span_s"], dials["middle_span_s"], dials["life_span_s"]),
        still_mib=min(dials["still_bytes"], dials["least_growth_bytes"] / 2) / _MIB,
        shape=limits_from(Shape, dials, tooth_mib=dials["tooth_bytes"] / _MIB),
        waves=Waves(
            cycles=dials["waves"],
            deep=dials["wave_percent"] / 100,
            regular=dials["wave_regular_percent"] / 100,
            odd=dials["wave_odd_percent"] / 100,
            lifted=dials["wave_lifted_percent"] / 100,
        ),
    )


def alarm_of(dials: Mapping[str, float]) -> Alarm:
    """Return what makes a leak an alarm."""
    return Alarm(full_s=dials["alarm_s"], sure=dials["sure_percent"] / 100, current_s=dials["current_s"])
