"""The dials of the leak detector, in the units of the configuration and in those of the code."""

from collections.abc import Mapping
from typing import Final

from gputop.core.detection.detector import Dial, Kind
from gputop.core.detectors.leak.growth import Shape
from gputop.core.detectors.leak.rises import Stairs
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
        "leak.gpu": "The used memory of a GPU grows and is not freed. The driver does not report the process.",
    },
    remedies={
        "leak.process": "Find what the program keeps: `torch.cuda.memory._record_memory_history()`. To end it: `F9`.",
        "leak.gpu": "Use a memory profiler in the programs of the jobs. `G` sorts the processes by GPU memory.",
    },
    dials=(
        Dial("least_growth_bytes", 64.0 * 1024**2, 1024**2, 1024**4, "gputop ignores growth of less than this."),
        Dial(
            "observed_s", 600.0, 300.0, 86_400.0,
            "gputop watches the memory for at least this time before it reports a leak.",
        ),
        Dial(
            "least_log_odds", 3.0, 0.0, 20.0,
            "A leak must be steady. The value is a natural logarithm: 3 means that steady growth must be about 20 "
            "times as likely as growth that slows down.",
        ),
        Dial(
            "fill_s", 21600.0, 0.0, 864_000.0,
            "Growth that would fill an empty GPU within this time may be loading, or a buffer that fills.",
        ),
        Dial(
            "fill_watched_s", 1800.0, 0.0, 86_400.0,
            "Such fast growth (see fill_s) is a leak only if it lasts at least this long.",
        ),
        Dial(
            "fill_young_s", 600.0, 0.0, 86_400.0,
            "Growth that began within this time after the start of the process may be loading.",
        ),
        Dial(
            "fill_late_s", 900.0, 0.0, 86_400.0,
            "The same as fill_watched_s, for growth that began later than fill_young_s: another model may be "
            "loading.",
        ),
        Dial(
            "fill_bytes_per_s", 2.0 * 1024**2, 0.0, 1024**4,
            "Growth at this rate or slower is never loading or a buffer that fills.",
        ),
        Dial(
            "fill_much_percent", 30.0, 0.0, 1000.0,
            "Fast growth (see fill_s) need not last so long if the GPU is busy and the growth has filled this share of "
            "its memory. Growth before fill_settled_s does not count.",
        ),
        Dial(
            "fill_settled_s", 20.0, 0.0, 86_400.0,
            "Loading is over when the program has worked this long with constant memory.",
        ),
        Dial("few_steps", 12.0, 1.0, 1000.0, "Growth in fewer steps than this must last longer (see few_watched_s)."),
        Dial(
            "few_watched_s", 1800.0, 0.0, 86_400.0,
            "Growth in few steps (see few_steps) must last at least this long: a program that loads one adapter after "
            "another looks like a leak at first.",
        ),
        Dial("fell_back_percent", 50.0, 1.0, 100.0, "A leak is over when at least this share of its growth is freed."),
        Dial(
            "over_times", 3.0, 1.0, 100.0,
            "A leak is over after a long pause. With 3, growth of 10 minutes is over after a pause of 30 minutes.",
        ),
        Dial(
            "segments_percent", 80.0, 1.0, 100.0,
            "gputop divides the time into 6 or 8 equal intervals. The memory must grow in at least this share of them. "
            "With 80: in 5 of 6, or in 7 of 8.",
        ),
        Dial(
            "burst_percent", 50.0, 1.0, 100.0,
            "No interval may contain more than this share of the growth.",
        ),
        Dial("steps", 6.0, 1.0, 100.0, "The memory must grow in at least this many steps. Loading has fewer steps."),
        Dial(
            "slower_percent", 60.0, 0.0, 100.0,
            "The growth slows down if its second half is less than this share of its first half. It is then no leak.",
        ),
        Dial("noise_percent", 35.0, 1.0, 100.0, "Memory is noisy if more than this share of all rises is freed again."),
        Dial("noisy_span_s", 900.0, 60.0, 86_400.0, "gputop judges noisy memory only after this time."),
        Dial(
            "trend_z", 3.0, 0.0, 10.0,
            "The lowest values must rise clearly: Z of the Mann-Kendall test must be at least this.",
        ),
        Dial(
            "loading_percent", 80.0, 1.0, 100.0,
            "Growth is loading, and no leak, if more than this share of it happens while the GPU is idle.",
        ),
        Dial(
            "copies_bytes_per_s", 2.0 * 1024**2, 0.0, 1024**4,
            "Growth at this rate or faster is also loading while the GPU is hardly used (see light_percent).",
        ),
        Dial("copies_s", 1800.0, 60.0, 864_000.0, "Such growth (see copies_bytes_per_s) is a leak if it lasts longer."),
        Dial(
            "light_percent", 10.0, 1.0, 100.0,
            "A GPU is hardly used if its utilization is below this: it may only receive copies.",
        ),
        Dial("sure_percent", 85.0, 1.0, 100.0, "A leak is an alarm only if its confidence is at least this."),
        Dial(
            "current_s", 120.0, 30.0, 86_400.0,
            "gputop estimates when the GPU will be full only if the memory grew within this time.",
        ),
        Dial(
            "still_bytes", 8.0 * 1024**2, 65_536.0, 1024**4,
            "A smaller rise is not growth. If this is more than half of least_growth_bytes, that half applies.",
        ),
        Dial(
            "short_span_s", 300.0, 60.0, 340.0,
            "gputop tests the last 6 minutes only if it has samples for at least this much of them.",
        ),
        Dial(
            "middle_span_s", 900.0, 60.0, 1740.0,
            "gputop tests the last 30 minutes only if it knows at least this much of them.",
        ),
        Dial(
            "life_span_s", 600.0, 60.0, 86_400.0,
            "gputop tests the time since the start of the process only if it knows at least this much of it.",
        ),
        Dial(
            "longest_span_s", 1800.0, 60.0, 864_000.0,
            "Limit for over_times: growth that lasts longer counts as this long.",
        ),
        Dial(
            "votes", 3.0, 1.0, 1000.0,
            "gputop repeats three tests: of the last 6 minutes, of the last 30 minutes, and of the whole "
            "time. A passed test adds one vote, a failed test removes one. gputop reports a leak only if one "
            "of the tests has this many votes.",
        ),
        Dial(
            "teeth_votes", 8.0, 1.0, 1000.0,
            "The same as votes, for memory with cycles. It is higher because random changes often look like growth.",
        ),
        Dial(
            "segment_percent", 12.0, 0.0, 100.0,
            "An interval has growth if it contains more than this share of the mean growth per interval.",
        ),
        Dial(
            "often_percent", 40.0, 1.0, 100.0,
            "If the memory grows in at least this share of all intervals, each interval with growth is one step. "
            "Otherwise each unbroken rise is one step.",
        ),
        Dial(
            "large_step_times", 3.0, 1.0, 1000.0,
            "gputop limits the effect of one large step. With 3, it counts at most as much as 3 usual steps.",
        ),
        Dial(
            "alike_slower_percent", 75.0, 0.0, 100.0,
            "Used instead of slower_percent if the steps have similar sizes and this value is larger.",
        ),
        Dial(
            "alike_percent", 25.0, 0.0, 1000.0,
            "Steps have similar sizes if their variance is less than this share of their squared mean.",
        ),
        Dial(
            "stopped_times", 3.0, 0.0, 1000.0,
            "Growth has stopped when a pause is longer than a limit. The limit is the longest earlier pause "
            "plus this many usual pauses.",
        ),
        Dial(
            "tooth_bytes", 64.0 * 1024**2, 1024**2, 1024**4,
            "Cycles: memory that rises and falls again and again has cycles. A fall of less than this does not end a "
            "cycle.",
        ),
        Dial(
            "tooth_percent", 30.0, 1.0, 100.0,
            "Cycles: a small fall, below this share of the last rise, does not end a cycle.",
        ),
        Dial(
            "teeth", 3.0, 2.0, 100.0,
            "Cycles: gputop needs at least this many to see whether the lowest points rise.",
        ),
        Dial(
            "falling_percent", 25.0, 0.0, 100.0,
            "Cycles: at most this share of the lowest points may be lower than the one before.",
        ),
        Dial(
            "overdue_times", 3.0, 1.0, 100.0,
            "Cycles: they are over if the memory does not fall for a long time. With 3, that is 3 times the longest "
            "cycle. gputop then judges only the time since the last fall.",
        ),
        Dial(
            "after_cut_percent", 60.0, 1.0, 100.0,
            "Cycles: gputop leaves out the last one if it is not complete. The rest must be long enough. With 60 and "
            "short_span_s = 300, it must last 180 s.",
        ),
        Dial(
            "teeth_left_percent", 50.0, 0.0, 100.0,
            "Cycles: to end a leak, the program must free more than fell_back_percent. With 50 and fell_back_percent = "
            "50, at most 25% of the growth may remain: 50% of 50%.",
        ),
        Dial(
            "waves", 3.0, 2.0, 100.0,
            "Waves are cycles of equal length. gputop removes them from the curve if there are at least this many.",
        ),
        Dial(
            "wave_percent", 35.0, 1.0, 100.0,
            "Waves: a fall ends a wave if it frees at least this share of the difference between the highest and the "
            "lowest value.",
        ),
        Dial(
            "wave_regular_percent", 25.0, 0.0, 100.0,
            "Waves: a wave is regular if its length differs from the usual length by at most this share.",
        ),
        Dial(
            "wave_odd_percent", 25.0, 0.0, 100.0,
            "Waves: gputop removes them only if at most this share of them is not regular.",
        ),
        Dial(
            "wave_lifted_percent", 50.0, 0.0, 100.0,
            "Waves: the lowest points must rise by at least this share of the growth. If only the highest points rise, "
            "it is no leak.",
        ),
        Dial(
            "wave_span_s", 600.0, 60.0, 86_400.0,
            "Waves: after gputop removes them, at least this much time must remain.",
        ),
        Dial(
            "wave_growth_times", 2.0, 1.0, 1000.0,
            "Waves: after gputop removes them, it needs more growth. With 2, twice least_growth_bytes.",
        ),
        Dial("stair_bytes", 2.0**28, 1024**2, 2.0**50, "Large steps: gputop ignores steps that are smaller than this."),
        Dial("stair_one_s", 30.0, 1.0, 3600.0, "Large steps: rises within this time are one step."),
        Dial("stairs", 4.0, 3.0, 12.0, "Large steps: gputop needs at least this many."),
        Dial(
            "stair_soonest_s", 300.0, 1.0, 86_400.0,
            "Large steps: the last two must be this far apart. While a program starts, they are nearer.",
        ),
        Dial(
            "stair_sure_s", 600.0, 1.0, 86_400.0,
            "Large steps: the same as stair_soonest_s, if the next step still fits into the free memory.",
        ),
        Dial(
            "stair_alike_percent", 90.0, 1.0, 1000.0,
            "Large steps: each step and each pause must be at least this share of the one before.",
        ),
        Dial(
            "stair_larger_times", 1.5, 1.0, 100.0,
            "Large steps: if the next step still fits, each step and each pause must be this much larger than the one "
            "before. With 1.5, one and a half times as large.",
        ),
        Dial(
            "stair_overdue_times", 2.5, 1.0, 100.0,
            "Large steps: they have ended after a long pause. With 2.5, after 2.5 times the last pause.",
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
        shape=limits_from(
            Shape, dials, tooth_mib=dials["tooth_bytes"] / _MIB, copies_mib=dials["copies_bytes_per_s"] / _MIB
        ),
        waves=Waves(
            cycles=dials["waves"],
            deep=dials["wave_percent"] / 100,
            regular=dials["wave_regular_percent"] / 100,
            odd=dials["wave_odd_percent"] / 100,
            lifted=dials["wave_lifted_percent"] / 100,
        ),
    )


def stairs_of(dials: Mapping[str, float]) -> Stairs:
    """Return the conditions for growth in large steps."""
    return Stairs(
        step_mib=dials["stair_bytes"] / _MIB,
        one_s=dials["stair_one_s"],
        steps=dials["stairs"],
        soonest_s=dials["stair_soonest_s"],
        sure_s=dials["stair_sure_s"],
        alike=dials["stair_alike_percent"] / 100,
        larger_times=dials["stair_larger_times"],
        overdue_times=dials["stair_overdue_times"],
    )


def alarm_of(dials: Mapping[str, float]) -> Alarm:
    """Return what makes a leak an alarm."""
    return Alarm(sure=dials["sure_percent"] / 100, current_s=dials["current_s"])
