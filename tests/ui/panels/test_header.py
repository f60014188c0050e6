"""The first line: what it says before gputop has watched for long enough to judge."""

from app_driver import staged
from examples import frame, gpu
from msgspec.structs import replace

from gputop.core.model.catalogue import MEMORY_USED
from gputop.core.protocol.link import Delay, Down


async def test_a_machine_that_is_not_judged_yet_does_not_look_healthy() -> None:
    async with staged(replace(frame(2), judged_in_s=113.2)) as stage:
        assert "not judged yet, 2m00 to go" in stage.header

        await stage.deliver(frame(2))
        assert "not judged" not in stage.header


async def test_on_a_small_screen_the_free_gpus_come_before_the_judgement() -> None:
    async with staged(replace(frame(2), judged_in_s=113.2), size=(60, 20)) as stage:
        assert "free" in stage.header
        assert "not judged" in stage.header


async def test_used_memory_is_not_cut_after_a_job_has_ended() -> None:
    gpus = tuple(gpu(index, {MEMORY_USED: 3.125 * 2**30}) for index in range(8))
    async with staged(frame(gpus), size=(120, 40)) as stage:
        assert "MEMORY 25.0GiB/640GiB" in stage.header


async def test_a_silent_host_is_shown_younger_than_it_is() -> None:
    delay = Delay(age_s=0.2, round_trip_s=0.012)
    async with staged(delay, frame(), remote="node7", size=(200, 40)) as stage:
        assert "ssh node7, 0.2s old, round trip 12ms" in stage.header

        await stage.age(2)
        assert "ssh node7, 2.2s old" in stage.header

        await stage.age(10)
        assert "last frame 12s ago" in stage.header
        assert "ssh node7, 12.2s old" in stage.header

        await stage.deliver(Down("Timeout, server node7 not responding.", 5.0))
        await stage.age(3)
        assert "NO LINK TO node7: Timeout" in stage.header
        assert "connecting again in 2s" in stage.header
        assert "last frame 15s ago" in stage.header

        await stage.deliver(delay, frame())
        assert "ssh node7, 0.2s old" in stage.header
        assert "ago" not in stage.header
