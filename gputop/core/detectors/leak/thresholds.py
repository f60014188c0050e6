"""What can be settled of the search for leaks, in the units of the configuration and in those of the code."""

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
    question="Does a process on a GPU leak memory?",
    codes={
        "leak.process": "The memory of a process on a GPU grows and does not come back.",
        "leak.gpu": "The memory of a GPU grows and does not come back; the driver does not tell whose it is.",
    },
    remedies={
        "leak.process": "What is kept? `torch.cuda.memory._record_memory_history()`; end it in time: `F9`.",
        "leak.gpu": "The same, from inside the job: nobody can be named from outside. `G` helps where some tell.",
    },
    dials=(
        Dial(
            key="least_growth_bytes", default=64.0 * 1024**2, least=1024**2, most=1024**4,
            help="Growth below this is not told.",
        ),
        Dial(
            key="observed_s", default=600.0, least=300.0, most=86_400.0,
            help="Time to watch before growth is called a leak.",
        ),
        Dial(
            key="least_log_odds", default=3.0, least=0.0, most=20.0,
            help="Evidence for a steady rate over one that dies away: logarithm of the odds. More is stricter.",
        ),
        Dial(
            key="alarm_s", default=3600.0, least=0.0, most=86_400.0,
            help="A sure leak that fills the GPU sooner than this is an alarm.",
        ),
        Dial(
            key="fill_s", default=21600.0, least=0.0, most=864_000.0,
            help="Growth that would fill the whole GPU sooner may be loading or a buffer that fills.",
        ),
        Dial(
            key="fill_watched_s", default=1800.0, least=0.0, most=86_400.0,
            help="Time after which even that is called a leak.",
        ),
        Dial(
            key="fill_bytes_per_s", default=2.0 * 1024**2, least=0.0, most=1024**4,
            help="The least rate of such growth: nobody loads more slowly.",
        ),
        Dial(
            key="fell_back_percent", default=50.0, least=1.0, most=100.0,
            help="Share of the growth that has to come back, so that a leak is over.",
        ),
        Dial(
            key="over_times", default=3.0, least=1.0, most=100.0,
            help="A leak is over as well after so many times its span without growth.",
        ),
        Dial(
            key="segments_percent", default=80.0, least=1.0, most=100.0,
            help="Parts of the time in which it has to grow.",
        ),
        Dial(
            key="burst_percent", default=50.0, least=1.0, most=100.0,
            help="Share of the growth that one of these parts may have.",
        ),
        Dial(
            key="steps", default=6.0, least=1.0, most=100.0,
            help="How often it has to grow: less is a staircase that ends.",
        ),
        Dial(
            key="slower_percent", default=60.0, least=0.0, most=100.0,
            help="Growth of the second half, in parts of the first, below which it slows down.",
        ),
        Dial(
            key="noise_percent", default=35.0, least=1.0, most=100.0,
            help="Share of all rises that is given back, above which memory is noisy.",
        ),
        Dial(
            key="noisy_span_s", default=900.0, least=60.0, most=86_400.0,
            help="The shortest span that says anything of noisy memory.",
        ),
        Dial(
            key="trend_z", default=3.0, least=0.0, most=10.0,
            help="How clearly the lows have to rise: the Z of Mann and Kendall.",
        ),
        Dial(
            key="loading_percent", default=80.0, least=1.0, most=100.0,
            help="Share of the growth that came while nothing was computed: more is loading.",
        ),
        Dial(
            key="sure_percent", default=85.0, least=1.0, most=100.0,
            help="Confidence from which a leak may be an alarm.",
        ),
        Dial(
            key="current_s", default=120.0, least=30.0, most=86_400.0,
            help="Growth that was seen so lately goes on: then the time is told until the GPU is full.",
        ),
        Dial(
            key="still_bytes", default=8.0 * 1024**2, least=65_536.0, most=1024**4,
            help="Memory that rises by less stands still. Half of least_growth_bytes, where that is less.",
        ),
        Dial(
            key="short_span_s", default=300.0, least=60.0, most=340.0,
            help="The least span of growth, by the last 6 minutes.",
        ),
        Dial(
            key="middle_span_s", default=900.0, least=60.0, most=1740.0,
            help="The least span of growth, by the last 30 minutes.",
        ),
        Dial(
            key="life_span_s", default=600.0, least=60.0, most=86_400.0,
            help="The least span of growth, by all that was seen of the process.",
        ),
        Dial(
            key="longest_span_s", default=1800.0, least=60.0, most=864_000.0,
            help="The longest span that over_times counts.",
        ),
        Dial(key="votes", default=3.0, least=1.0, most=1000.0, help="How often the test of a span must pass, net."),
        Dial(
            key="teeth_votes", default=8.0, least=1.0, most=1000.0,
            help="The same where memory comes back in between: that looks like growth by chance more often.",
        ),
        Dial(
            key="segment_percent", default=12.0, least=0.0, most=100.0,
            help="Share of its even part from which one of the parts of the time grows.",
        ),
        Dial(
            key="often_percent", default=40.0, least=1.0, most=100.0,
            help="Growth in so many of all intervals counts each time; in fewer, a ramp counts once.",
        ),
        Dial(
            key="large_step_times", default=3.0, least=1.0, most=1000.0,
            help="A single step counts as so many usual ones at most.",
        ),
        Dial(
            key="alike_slower_percent", default=75.0, least=0.0, most=100.0,
            help="slower_percent where the steps are alike, if that is more.",
        ),
        Dial(
            key="alike_percent", default=25.0, least=0.0, most=1000.0,
            help="Variance of the steps, in parts of the square of their mean, up to which they are alike.",
        ),
        Dial(
            key="stopped_times", default=3.0, least=0.0, most=1000.0,
            help="Growth has stopped after so many of its usual gaps on top of its longest.",
        ),
        Dial(
            key="tooth_bytes", default=64.0 * 1024**2, least=1024**2, most=1024**4,
            help="A fall below this is no tooth of a sawtooth.",
        ),
        Dial(
            key="tooth_percent", default=30.0, least=1.0, most=100.0,
            help="Share of the rise before it that a tooth must give back.",
        ),
        Dial(
            key="teeth", default=3.0, least=2.0, most=100.0,
            help="Teeth that must be seen before it is told whether their troughs rise.",
        ),
        Dial(
            key="falling_percent", default=25.0, least=0.0, most=100.0,
            help="Share of the troughs that may fall, by number and by size.",
        ),
        Dial(
            key="overdue_times", default=3.0, least=1.0, most=100.0,
            help="A sawtooth is over after so many times its longest tooth.",
        ),
        Dial(
            key="after_cut_percent", default=60.0, least=1.0, most=100.0,
            help="Share of the least span that must be left without the unfinished tooth.",
        ),
        Dial(
            key="teeth_left_percent", default=50.0, least=0.0, most=100.0,
            help="Of a sawtooth only so much of what fell_back_percent leaves may be left.",
        ),
        Dial(key="waves", default=3.0, least=2.0, most=100.0, help="Waves that must be seen to be taken out."),
        Dial(
            key="wave_percent", default=35.0, least=1.0, most=100.0,
            help="Share of the range that a wave must give back.",
        ),
        Dial(
            key="wave_regular_percent", default=25.0, least=0.0, most=100.0,
            help="By how much of the usual length a regular wave may differ.",
        ),
        Dial(
            key="wave_odd_percent", default=25.0, least=0.0, most=100.0,
            help="Share of the waves that may differ by more.",
        ),
        Dial(
            key="wave_lifted_percent", default=50.0, least=0.0, most=100.0,
            help="Share of the growth by which the troughs must rise: peaks alone keep nothing.",
        ),
        Dial(
            key="wave_span_s", default=600.0, least=60.0, most=86_400.0,
            help="The least span of growth below a wave.",
        ),
        Dial(
            key="wave_growth_times", default=2.0, least=1.0, most=1000.0,
            help="Below a wave it must grow by so many times least_growth_bytes.",
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
