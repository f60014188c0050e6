"""Lines that are drawn anew each second."""

import gc

from app_driver import staged
from examples import frame, process
from textual.strip import Strip


async def test_lines_drawn_again_leave_nothing_for_the_garbage_collector() -> None:
    async with staged(frame(1, (process(1),))) as stage:
        gc.collect()
        gc.disable()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            await stage.deliver(frame(2, (process(1, cpu_percent=50.0),)))
            gc.collect()
            left = [each for each in gc.garbage if isinstance(each, Strip)]
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
            gc.enable()

        assert left == []
