"""What the MIG page looks like: compared with SVGs that a person has looked at."""

from collections.abc import Callable

import pytest
from app_driver import MIDDLE, SMALL
from mig_app import BoxLink, split_frame
from textual.pilot import Pilot

from gputop.core.protocol.link import Down
from gputop.ui.app import GputopApp
from gputop.ui.options import ViewOptions

Looks = Callable[..., bool]
CASES: dict[str, tuple[tuple[str, ...], int]] = {
    "page": (("p",), 1000),
    "activity": (("2", "p"), 1000),
    "off": (("1", "p"), 1000),
    "plan": (("p", "e", "down"), 1000),
    "impossible": (("p", "e", "7", "g"), 1000),
    "question": (("p", "e", "down", "enter"), 1000),
    "done": (("p", "e", "down", "enter", "y"), 1000),
    "failed": (("p", "e", "down", "enter", "y"), 1),
}


@pytest.mark.parametrize("size", [SMALL, MIDDLE], ids=["80x24", "120x40"])
@pytest.mark.parametrize("name", CASES)
def test_mig(snap_compare: Looks, name: str, size: tuple[int, int]) -> None:
    keys, good = CASES[name]
    link = BoxLink(good)
    app = GputopApp(link, ViewOptions(theme="dark"), clock=lambda: 100.0)

    async def play(pilot: Pilot[Down]) -> None:
        await pilot.pause()
        link.tell(split_frame(link.gpus))
        await pilot.pause()
        for key in keys:
            await pilot.pause()
            await pilot.press(key)
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=play)
