"""What can be settled of the search for leaks, in the units of the configuration and in those of the code."""

from collections.abc import Mapping
from typing import Final

from gputop.core.detector import Dial, Kind
from gputop.core.detectors.leak_growth import Shape
from gputop.core.detectors.leak_vote import Limits

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
            help="Share of all rises that is given back, above which it takes 15 minutes to judge.",
        ),
        Dial(
            key="trend_z", default=3.0, least=0.0, most=10.0,
            help="How clearly the lows have to rise: the Z of Mann and Kendall.",
        ),
        Dial(
            key="loading_percent", default=80.0, least=1.0, most=100.0,
            help="Share of the growth that came while nothing was computed: more is loading.",
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
        over=dials["over_times"],
        shape=Shape(
            noise=dials["noise_percent"] / 100,
            steps=dials["steps"],
            segments=dials["segments_percent"] / 100,
            burst=dials["burst_percent"] / 100,
            slower=dials["slower_percent"] / 100,
            trend_z=dials["trend_z"],
            loading=dials["loading_percent"] / 100,
        ),
    )
