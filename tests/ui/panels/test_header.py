"""The first line: what it says before gputop has watched for long enough to judge."""

from app_driver import staged
from examples import frame, gpu
from msgspec.structs import replace

from gputop.core.model.catalogue import MEMORY_USED


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
