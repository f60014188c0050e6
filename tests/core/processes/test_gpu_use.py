"""What a process uses of the GPUs, in words."""

from examples import GIB, frame, gpu, process

from gputop.core.model.catalogue import MEMORY_TOTAL
from gputop.core.model.metric import Missing
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import DriverInfo, GpuInstance, GpuProcess, GpuState, HostProcess, Presence
from gputop.core.processes.gpu_use import memory_total, use_label, use_text, uses_of

USE = GpuProcess(
    gpu="GPU-00000000", gpu_index=0, type="C", memory_bytes=10 * GIB, sm_percent=80.0, memory_utilization_percent=12.0,
    encoder_percent=0.0, decoder_percent=7.0, window_s=1.0,
)  # fmt: skip


def test_memory_and_utilizations_are_told_and_video_where_it_is_used() -> None:
    assert use_text(USE, 80 * GIB) == "C · memory 10.0GiB of 80.0GiB · SM 80% · MBW 12% · decoder 7% · means over 1s"


def test_what_is_missing_is_named_once_for_each_reason() -> None:
    why = {"sm_percent": Missing.UNSUPPORTED, "encoder_percent": Missing.UNSUPPORTED, "memory_bytes": Missing.FORBIDDEN}
    bare = GpuProcess(gpu="GPU-00000000", gpu_index=0, type="M", missing=why)

    assert use_text(bare, None).split(" · ") == [
        "M", "memory –", "SM –", "MBW –",
        f"no memory: {Missing.FORBIDDEN.text}", f"no SM, encoder: {Missing.UNSUPPORTED.text}",
    ]  # fmt: skip


def test_the_memory_of_an_instance_is_that_of_the_instance() -> None:
    part = GpuInstance(id=3, profile="1g.10gb", metrics={MEMORY_TOTAL.key: 10 * GIB})
    split = gpu(0, {MEMORY_TOTAL: 80 * GIB}, instances=(part,))
    inside = GpuProcess(gpu=split.uuid, gpu_index=0, type="C", gpu_instance=3)
    whole = GpuProcess(gpu=split.uuid, gpu_index=0, type="C")

    assert (use_label(inside), memory_total(inside, [split])) == ("GPU 0:3", 10 * GIB)
    assert (use_label(whole), memory_total(whole, [split])) == ("GPU 0", 80 * GIB)
    assert memory_total(whole, []) is None


def test_only_the_very_process_is_meant_and_not_the_one_that_had_its_pid() -> None:
    shown = frame(processes=(process(7, start_ticks=70),))

    assert uses_of(shown, ProcessId(7, 70))[0] == shown.processes[0].gpus
    assert uses_of(shown, ProcessId(7, 71)) == ((), ("the driver lists it on no GPU",))


def test_gpus_that_do_not_tell_are_named() -> None:
    refusing = gpu(0, missing={"processes": Missing.FORBIDDEN})
    shown = frame(gpus=(refusing, gpu(1, state=GpuState.LOST, metrics={})), processes=())

    assert uses_of(shown, ProcessId(7, 70))[1] == (
        f"GPU 0 does not report its processes: {Missing.FORBIDDEN.text}",
        f"GPU 1 does not report its processes: {Missing.LOST.text}",
    )


def test_a_process_that_is_gone_keeps_what_the_driver_lists() -> None:
    shown = frame(processes=(HostProcess(pid=7, presence=Presence.GONE, gpus=(USE,)),))

    assert uses_of(shown, ProcessId(7, None)) == ((USE,), (Presence.GONE.text,))


def test_a_process_is_not_said_to_be_on_no_gpu_while_the_driver_does_not_answer() -> None:
    shown = frame(gpus=(), processes=(), driver=DriverInfo(missing={"version": Missing.HUNG}))

    assert uses_of(shown, ProcessId(7, 70))[1] == (Missing.HUNG.text,)


def test_a_process_on_no_gpu_that_answers_is_said_to_be_on_none_of_them() -> None:
    shown = frame(gpus=(gpu(0), gpu(1, state=GpuState.LOST, metrics={})), processes=())

    assert uses_of(shown, ProcessId(7, 70))[1] == (
        "the driver lists it on no GPU",
        f"GPU 1 does not report its processes: {Missing.LOST.text}",
    )
