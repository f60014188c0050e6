"""What the probe page looks like: compared with SVGs that a person has looked at."""

from collections.abc import Callable
from typing import Any

import pytest
from app_driver import MIDDLE, SMALL, FakeLink
from examples import frame, gpu, process
from probe_app import PROBE, REPORT, RUNNING, FakeProber
from textual.pilot import Pilot

from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_USED, POWER_AVERAGE, TEMPERATURE
from gputop.core.model.metric import Metric
from gputop.core.protocol.link import Down
from gputop.ui.app import GputopApp
from gputop.ui.options import ViewOptions

Looks = Callable[..., bool]
IDLE: dict[Metric[Any], Any] = {GPU_UTILIZATION: 0, MEMORY_USED: 2**20, POWER_AVERAGE: 71.0, TEMPERATURE: 34}
HELD = frame((gpu(0, IDLE), gpu(1), gpu(2, IDLE)), (process(4712, 1),))
BUSY = frame((gpu(0, {TEMPERATURE: 71, POWER_AVERAGE: 688.0}), gpu(1), gpu(2)), (process(4712, 1),))
CASES = {
    "choice": ("X",), "insist": ("X", "down", "space"), "running": ("X", "enter"), "mark": ("X", "enter", "escape"),
    "ended": ("X", "enter", "down", "down"),
}  # fmt: skip


@pytest.mark.parametrize("size", [SMALL, MIDDLE], ids=["80x24", "120x40"])
@pytest.mark.parametrize("name", CASES)
def test_probe(snap_compare: Looks, name: str, size: tuple[int, int]) -> None:
    prober, link = FakeProber(PROBE), FakeLink()
    app = GputopApp(link, ViewOptions(theme="dark", prober=prober), clock=lambda: 121.0)

    async def play(pilot: Pilot[Down]) -> None:
        await pilot.pause()
        assert link.receive is not None
        link.receive(HELD)
        await pilot.pause()
        for key in CASES[name][:2]:
            await pilot.press(key)
            await pilot.pause()
        if prober.run is not None:
            link.receive(BUSY)
            await pilot.pause()
            prober.tell(**({"report": REPORT} if name == "ended" else {"course": RUNNING}))
        for key in CASES[name][2:]:
            await pilot.press(key)
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=play)
