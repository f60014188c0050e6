"""The dials of the leak detector, in the units of the configuration and in those of the code."""

from collections.abc import Mapping
from typing import Final

from gputop.core.detection.detector import Dial, Kind
from gputop.core.detectors.leak.growth import Shape
from gputop.core.detectors.leak.verdict import Limits
from gputop.core.detectors.leak.waves import Waves
from gputop.core.detectors.leak.wording import Alarm

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
        Dial(
            key="least_growth_bytes", default=64.0 * 1024**2, least=1024**2, most=1024**4,
            help="Growth below this is not reported.",
        ),
        Dial(
            key="observed_s", default=600.0, least=300.0, most=86_400.0,
            help="Shortest time of observation before growth is called a leak.",
        ),
        Dial(
            key="least_log_odds", default=3.0, least=0.0, most=20.0,
            help="Evidence for a steady rate over a fading one: logarithm of the odds. More is stricter.",
        ),
        Dial(
            key="alarm_s", default=3600.0, least=0.0, most=86_400.0,
            help="A leak of high confidence that fills the GPU within this time is an alarm.",
        ),
        Dial(
            key="fill_s", default=21600.0, least=0.0, most=864_000.0,
            help="Growth that would fill the whole GPU within this time may be loading or a buffer that fills.",
        ),
        Dial(
            key="fill_watched_s", default=1800.0, least=0.0, most=86_400.0,
            help="Time after which such growth is called a leak too.",
        ),
        Dial(
            key="fill_bytes_per_s", default=2.0 * 1024**2, least=0.0, most=1024**4,
            help="Least rate of such growth: no loading is slower.",
        ),
        Dial(
            key="fell_back_percent", default=50.0, least=1.0, most=100.0,
            help="Share of the growth that must be freed before a leak is over.",
        ),
        Dial(
            key="over_times", default=3.0, least=1.0, most=100.0,
            help="A leak is also over after this many times its span without growth.",
        ),
        Dial(
            key="segments_percent", default=80.0, least=1.0, most=100.0,
            help="Share of the equal parts of the time in which memory must grow.",
        ),
        Dial(
            key="burst_percent", default=50.0, least=1.0, most=100.0,
            help="Largest share of the growth that one of these parts may have.",
        ),
        Dial(
            key="steps", default=6.0, least=1.0, most=100.0,
            help="Least number of steps: fewer are loading in stages.",
        ),
        Dial(
            key="slower_percent", default=60.0, least=0.0, most=100.0,
            help="Growth of the second half, as a share of the first, below which it slows down.",
        ),
        Dial(
            key="noise_percent", default=35.0, least=1.0, most=100.0,
            help="Share of all rises that is freed again, above which memory is noisy.",
        ),
        Dial(
            key="noisy_span_s", default=900.0, least=60.0, most=86_400.0,
            help="Shortest span in which noisy memory is judged.",
        ),
        Dial(
            key="trend_z", default=3.0, least=0.0, most=10.0,
            help="How clearly the lows must rise: Z of the Mann-Kendall test.",
        ),
        Dial(
            key="loading_percent", default=80.0, least=1.0, most=100.0,
            help="Share of the growth during idle time of the GPU above which it is loading.",
        ),
        Dial(
            key="sure_percent", default=85.0, least=1.0, most=100.0,
            help="Confidence from which a leak may be an alarm.",
        ),
        Dial(
            key="current_s", default=120.0, least=30.0, most=86_400.0,
            help="Growth seen within this time continues; only then gputop estimates the time until full.",
        ),
        Dial(
            key="still_bytes", default=8.0 * 1024**2, least=65_536.0, most=1024**4,
            help="Memory that rises by less is constant. Half of least_growth_bytes applies if that is less.",
        ),
        Dial(
            key="short_span_s", default=300.0, least=60.0, most=340.0,
            help="Shortest span of growth in the last 6 minutes.",
        ),
        Dial(
            key="middle_span_s", default=900.0, least=60.0, most=1740.0,
            help="Shortest span of growth in the last 30 minutes.",
        ),
        Dial(
            key="life_span_s", default=600.0, least=60.0, most=86_400.0,
            help="Shortest span of growth in the whole life of the process.",
        ),
        Dial(
            key="longest_span_s", default=1800.0, least=60.0, most=864_000.0,
            help="Longest span that over_times counts.",
        ),
        Dial(
            key="votes", default=3.0, least=1.0, most=1000.0,
            help="Passed tests, less failed ones, that a span needs for a verdict.",
        ),
        Dial(
            key="teeth_votes", default=8.0, least=1.0, most=1000.0,
            help="The same if memory is freed in between: that resembles growth by chance more often.",
        ),
        Dial(
            key="segment_percent", default=12.0, least=0.0, most=100.0,
            help="Share of its even part that one of the parts of the time must grow to count.",
        ),
        Dial(
            key="often_percent", default=40.0, least=1.0, most=100.0,
            help="Share of intervals with growth from which each counts; below it, a ramp counts once.",
        ),
        Dial(
            key="large_step_times", default=3.0, least=1.0, most=1000.0,
            help="Number of usual steps for which a single step counts at most.",
        ),
        Dial(
            key="alike_slower_percent", default=75.0, least=0.0, most=100.0,
            help="slower_percent for steps of similar size, if that is more.",
        ),
        Dial(
            key="alike_percent", default=25.0, least=0.0, most=1000.0,
            help="Variance of the steps, as a share of the square of their mean, below which their size is similar.",
        ),
        Dial(
            key="stopped_times", default=3.0, least=0.0, most=1000.0,
            help="Growth has stopped after this many usual gaps in addition to the longest one.",
        ),
        Dial(
            key="tooth_bytes", default=64.0 * 1024**2, least=1024**2, most=1024**4,
            help="A smaller fall is not a tooth of a sawtooth.",
        ),
        Dial(
            key="tooth_percent", default=30.0, least=1.0, most=100.0,
            help="Share of the rise before it that a tooth must free.",
        ),
        Dial(
            key="teeth", default=3.0, least=2.0, most=100.0,
            help="Number of teeth from which gputop judges whether their troughs rise.",
        ),
        Dial(
            key="falling_percent", default=25.0, least=0.0, most=100.0,
            help="Share of the troughs that may fall, by number and by size.",
        ),
        Dial(
            key="overdue_times", default=3.0, least=1.0, most=100.0,
            help="A sawtooth is over after this many times its longest tooth.",
        ),
        Dial(
            key="after_cut_percent", default=60.0, least=1.0, most=100.0,
            help="Share of the shortest span that must remain without the unfinished tooth.",
        ),
        Dial(
            key="teeth_left_percent", default=50.0, least=0.0, most=100.0,
            help="For a sawtooth, share of the rest under fell_back_percent that may remain.",
        ),
        Dial(
            key="waves", default=3.0, least=2.0, most=100.0,
            help="Number of waves from which gputop removes them from the curve.",
        ),
        Dial(
            key="wave_percent", default=35.0, least=1.0, most=100.0,
            help="Share of the range that a wave must free.",
        ),
        Dial(
            key="wave_regular_percent", default=25.0, least=0.0, most=100.0,
            help="Largest difference of a regular wave from the usual length.",
        ),
        Dial(
            key="wave_odd_percent", default=25.0, least=0.0, most=100.0,
            help="Share of the waves that may differ by more.",
        ),
        Dial(
            key="wave_lifted_percent", default=50.0, least=0.0, most=100.0,
            help="Share of the growth by which the troughs must rise: growth of the peaks alone is no leak.",
        ),
        Dial(
            key="wave_span_s", default=600.0, least=60.0, most=86_400.0,
            help="Shortest span of growth after the waves are removed.",
        ),
        Dial(
            key="wave_growth_times", default=2.0, least=1.0, most=1000.0,
            help="Multiple of least_growth_bytes by which memory must grow after the waves are removed.",
        ),
    ),
)  # fmt: skip


def limits_of(dials: Mapping[str, float]) -> Limits:
    """Return the dials that decide, in MiB and shares."""
    return Limits(
        growth_mib=dials["least_growth_bytes"] / _MIB,
        observed_s=dials["observed_s"],
        odds=dials["least_log_odds"],
        fill_s=dials["fill_s"],
        fill_span_s=dials["fill_watched_s"],
        fill_rate=dials["fill_bytes_per_s"] / _MIB,
        kept=1 - dials["fell_back_percent"] / 100,
        kept_cycles=dials["teeth_left_percent"] / 100,
        over=dials["over_times"],
        longest_s=dials["longest_span_s"],
        spans_s=(dials["short_span_s"], dials["middle_span_s"], dials["life_span_s"]),
        wave_s=dials["wave_span_s"],
        wave_growth=dials["wave_growth_times"],
        votes=dials["votes"],
        cycle_votes=dials["teeth_votes"],
        still_mib=min(dials["still_bytes"], dials["least_growth_bytes"] / 2) / _MIB,
        shape=_shape(dials),
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


def _shape(dials: Mapping[str, float]) -> Shape:
    return Shape(
        noise=dials["noise_percent"] / 100,
        noisy_s=dials["noisy_span_s"],
        steps=dials["steps"],
        segments=dials["segments_percent"] / 100,
        segment=dials["segment_percent"] / 100,
        burst=dials["burst_percent"] / 100,
        slower=dials["slower_percent"] / 100,
        slower_alike=dials["alike_slower_percent"] / 100,
        alike=dials["alike_percent"] / 100,
        often=dials["often_percent"] / 100,
        stopped=dials["stopped_times"],
        trend_z=dials["trend_z"],
        loading=dials["loading_percent"] / 100,
        large=dials["large_step_times"],
        tooth_mib=dials["tooth_bytes"] / _MIB,
        tooth=dials["tooth_percent"] / 100,
        teeth=dials["teeth"],
        falling=dials["falling_percent"] / 100,
        overdue=dials["overdue_times"],
        after_cut=dials["after_cut_percent"] / 100,
    )
