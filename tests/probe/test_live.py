"""What tests of the plugin say while they run, in this process: how fast they go; and that each can hang and crash."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from statistics import median
from typing import Any

import pytest
from gputop_cuda_probe.faults import Fault, Faults
from gputop_cuda_probe.lines import Lines
from gputop_cuda_probe.plugin import TESTS

pytestmark = [
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed: make probe-tests"),
    pytest.mark.filterwarnings("ignore"),
]  # fmt: skip
SINGLE = tuple(test.key for test in TESTS if not test.is_joint)
PATTERNS = tuple(key for key in SINGLE if key.startswith("memory.") and key != "memory.kept")
RATED = (*(key for key in SINGLE if key.startswith(("gemm.", "bandwidth."))), *PATTERNS, "soak", "pairs")
RATE = re.compile(r"([0-9.e+-]+) ([TGM]?)(B/s|TFLOP/s)(?:, (.+))?")
FACTORS = {"": 1.0, "M": 1e6, "G": 1e9, "T": 1e12}


class Heard(Lines):
    """Keeps what is said in place of writing it."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def send(self, event: str, **fields: Any) -> None:
        self.events.append((event, fields))

    @property
    def rates(self) -> Iterator[tuple[float, str]]:
        """The rates that were told while it ran, with the text after them."""
        for event, fields in self.events:
            if event == "progress" and (found := RATE.fullmatch(fields["msg"])):
                yield float(found[1]) * FACTORS[found[2]], found[4] or ""

    def figure(self, name: str) -> float:
        told = (fields for event, fields in self.events if event == "metric")
        return next(float(fields["value"]) for fields in told if fields["name"] == name)


class StruckError(Exception):
    """Stands for a worker that hangs or crashes."""


class Striking(Faults):
    """Says when it would hang or crash."""

    def strike(self) -> None:
        raise StruckError


def run(key: str, faults: Faults) -> Heard:
    """Run a test here, each turn told."""
    from gputop_cuda_probe import kept  # noqa: PLC0415 - imports torch
    from gputop_cuda_probe.table import RUN  # noqa: PLC0415
    from gputop_cuda_probe.turn import Device, Turn  # noqa: PLC0415

    heard, device = Heard(), Device("cpu", 0, 0.9, None)
    device.count = 2
    turn = Turn(key, device, heard, faults)
    turn.seconds, turn.told_every_s = 0.05, 0.0
    turn.begin()
    if key == kept.TEST:
        kept.Kept(device, heard, (), 1).run(turn)
    else:
        RUN[key](turn)
    return heard


@pytest.mark.parametrize("key", RATED)
def test_how_fast_it_goes_is_told_while_it_runs(key: str) -> None:
    rates = [rate for rate, _ in run(key, Faults((), key, 0)).rates]

    assert rates
    assert min(rates) > 0


@pytest.mark.parametrize(
    ("key", "figure", "text"),
    [
        ("gemm.fp32", "tflops", "speed"), ("bandwidth.copy", "copy", "copy"), ("bandwidth.d2h", "pageable", "pageable"),
        ("soak", "tflops", ""), ("pairs", "peer.1-0", "1 to 0"),
    ],
)  # fmt: skip
def test_what_is_told_while_it_runs_is_the_figure_that_is_told_at_the_end(key: str, figure: str, text: str) -> None:
    heard = run(key, Faults((), key, 0))
    live = median(rate for rate, told in heard.rates if told == text)

    assert 0.02 < live / heard.figure(figure) < 50  # on a busy machine a copy may take ten times as long as the next


def test_a_device_that_is_slow_is_seen_to_be_so_while_it_runs() -> None:
    clean, fault = Faults((), "bandwidth.copy", 0), Faults((Fault("slow", "bandwidth", None),), "bandwidth.copy", 0)
    usual, slow = (
        median(rate for rate, told in run("bandwidth.copy", faults).rates if told == "copy")
        for faults in (clean, fault)
    )

    assert slow < usual / 10


@pytest.mark.parametrize("key", SINGLE)
def test_every_test_can_be_made_to_hang_and_to_crash(key: str) -> None:
    with pytest.raises(StruckError):
        run(key, Striking((), key, 0))
