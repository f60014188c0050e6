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
        "leak.gpu": "Find what each job keeps, from inside the job. `G` shows the memory that processes report.",
    },
    dials=(
        Dial("least_growth_bytes", 64.0 * 1024**2, 1024**2, 1024**4, "Growth below this is not reported."),
        Dial("observed_s", 600.0, 300.0, 86_400.0, "Shortest time of observation before growth is called a leak."),
        Dial(
            "least_log_odds", 3.0, 0.0, 20.0,
            "Logarithm of the odds that the rate is steady rather than falling. A higher value is stricter.",
        ),
        Dial(
            "alarm_s", 3600.0, 0.0, 86_400.0,
            "A leak of high confidence that fills the GPU within this time is an alarm.",
        ),
        Dial(
            "fill_s", 21600.0, 0.0, 864_000.0,
            "Growth that would fill the whole GPU within this time may be loading or a buffer that fills.",
        ),
        Dial("fill_watched_s", 1800.0, 0.0, 86_400.0, "Growth limited by fill_s is a leak if it lasts this long."),
        Dial("fill_bytes_per_s", 2.0 * 1024**2, 0.0, 1024**4, "Least rate of such growth: slower growth is not "
        "loading."),
        Dial("fell_back_percent", 50.0, 1.0, 100.0, "Share of the growth that must be freed before a leak is over."),
        Dial("over_times", 3.0, 1.0, 100.0, "A leak is also over if it has not grown for this many times its "
        "duration."),
        Dial("segments_percent", 80.0, 1.0, 100.0, "The time is divided into equal intervals; the memory must grow "
        "in this share of them."),
        Dial("burst_percent", 50.0, 1.0, 100.0, "Largest share of the growth that one interval may have."),
        Dial("steps", 6.0, 1.0, 100.0, "Least number of steps: fewer steps look like loading in stages."),
        Dial(
            "slower_percent", 60.0, 0.0, 100.0,
            "The growth slows down if its second half is below this share of the first.",
        ),
        Dial("noise_percent", 35.0, 1.0, 100.0, "Memory is noisy if more than this share of all rises is freed again."),
        Dial("noisy_span_s", 900.0, 60.0, 86_400.0, "Shortest span in which noisy memory is judged."),
        Dial("trend_z", 3.0, 0.0, 10.0, "How clearly the low points must rise: Z value of the Mann-Kendall test."),
        Dial(
            "loading_percent", 80.0, 1.0, 100.0,
            "The growth is loading if more than this share of it happens while the GPU is idle.",
        ),
        Dial("sure_percent", 85.0, 1.0, 100.0, "Confidence from which a leak may be an alarm."),
        Dial(
            "current_s", 120.0, 30.0, 86_400.0,
            "gputop estimates the time until full only if memory grew within this time.",
        ),
        Dial(
            "still_bytes", 8.0 * 1024**2, 65_536.0, 1024**4,
            "Memory that rises by less is constant. Half of least_growth_bytes applies if that is less.",
        ),
        Dial("short_span_s", 300.0, 60.0, 340.0, "Shortest span of growth in the last 6 minutes."),
        Dial("middle_span_s", 900.0, 60.0, 1740.0, "Shortest span of growth in the last 30 minutes."),
        Dial("life_span_s", 600.0, 60.0, 86_400.0, "Shortest span of growth in the whole life of the process."),
        Dial("longest_span_s", 1800.0, 60.0, 864_000.0, "Longest duration that over_times uses."),
        Dial("votes", 3.0, 1.0, 1000.0, "Number of passed tests minus failed tests that a span needs for a verdict."),
        Dial(
            "teeth_votes", 8.0, 1.0, 1000.0,
            "The same number if memory is freed in between, because chance then looks like growth more often.",
        ),
        Dial(
            "segment_percent", 12.0, 0.0, 100.0,
            "An interval counts as growing from this share of the mean growth per interval.",
        ),
        Dial(
            "often_percent", 40.0, 1.0, 100.0,
            "If memory grows in this share of the intervals, each growth counts; otherwise a ramp counts once.",
        ),
        Dial("large_step_times", 3.0, 1.0, 1000.0, "A single step counts at most as this many usual steps."),
        Dial("alike_slower_percent", 75.0, 0.0, 100.0, "If the steps are of similar size: used instead of "
        "slower_percent, if it is larger."),
        Dial(
            "alike_percent", 25.0, 0.0, 1000.0,
            "Steps are similar in size if their variance is below this share of their squared mean.",
        ),
        Dial(
            "stopped_times", 3.0, 0.0, 1000.0,
            "Growth has stopped after a pause of the longest gap plus this many usual gaps.",
        ),
        Dial("tooth_bytes", 64.0 * 1024**2, 1024**2, 1024**4, "A smaller fall is not a tooth of a sawtooth."),
        Dial("tooth_percent", 30.0, 1.0, 100.0, "A tooth must free this share of the rise before it."),
        Dial("teeth", 3.0, 2.0, 100.0, "Number of teeth from which gputop judges whether their troughs rise."),
        Dial("falling_percent", 25.0, 0.0, 100.0, "This share of the troughs may be lower than the trough before."),
        Dial("overdue_times", 3.0, 1.0, 100.0, "A sawtooth is over after this many times its longest tooth."),
        Dial(
            "after_cut_percent", 60.0, 1.0, 100.0,
            "The span without its unfinished last tooth must be at least this share of the shortest span.",
        ),
        Dial(
            "teeth_left_percent", 50.0, 0.0, 100.0,
            "For a sawtooth: share of the memory below the limit of fell_back_percent that may remain.",
        ),
        Dial("waves", 3.0, 2.0, 100.0, "Number of waves from which gputop removes them from the curve."),
        Dial("wave_percent", 35.0, 1.0, 100.0, "A wave must free at least this share of the range of the curve."),
        Dial("wave_regular_percent", 25.0, 0.0, 100.0, "Largest difference of a regular wave from the usual length."),
        Dial("wave_odd_percent", 25.0, 0.0, 100.0, "This share of the waves may differ by more than "
        "wave_regular_percent."),
        Dial(
            "wave_lifted_percent", 50.0, 0.0, 100.0,
            "The troughs must rise by this share of the growth: growth of the peaks alone is no leak.",
        ),
        Dial("wave_span_s", 600.0, 60.0, 86_400.0, "Shortest span of growth after the waves are removed."),
        Dial(
            "wave_growth_times", 2.0, 1.0, 1000.0,
            "Multiple of least_growth_bytes by which memory must grow after the waves are removed.",
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
