"""What a person reads on a terminal, and what a script reads from a pipe."""

from typing import Any

import pytest
from examples import GIB, NOW, frame, gpu, process

from gputop.core.model.catalogue import (
    GPU_UTILIZATION,
    MEMORY_TOTAL,
    MEMORY_USED,
    POWER_AVERAGE,
    POWER_LIMIT,
    SM_ACTIVE,
    TEMPERATURE,
)
from gputop.core.model.finding import Finding, Stage, Subject
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.sample import ComputeInstance, DriverInfo, Frame, GpuInstance, GpuProcess, GpuState, Presence
from gputop.core.text.cells import width
from gputop.report.grid import Style
from gputop.report.table import table

HOSTILE = "python \x1b[2J\x1b]0;owned\x07 \r\n\u202etxt.exe \x9b31m"


def line(text: str, beginning: str) -> str:
    """Return the one line that begins so."""
    (found,) = [line for line in text.splitlines() if line.startswith(beginning)]
    return found


def one_gpu(values: dict[Metric[Any], Any] | None = None, **fields: Any) -> Frame:
    return frame(gpus=(gpu(0, values, **fields),), processes=())


def test_a_gpu_is_a_line_of_what_matters() -> None:
    shown = line(table(one_gpu({SM_ACTIVE: 71.6})), "0 ")

    assert shown == "0    NVIDIA H100 80GB HBM3  60°C  500W / 700W  40.0GiB / 80.0GiB   90%     72%"


def test_the_header_says_host_driver_and_cuda() -> None:
    header = table(frame()).splitlines()[0]

    assert header.startswith("node7 · driver 570.124.06 · CUDA 12.8 · 2027-01-1")


def test_a_simulated_box_is_labelled_before_anything_else() -> None:
    simulated = table(frame(driver=DriverInfo(version="570", simulated="training")))

    assert simulated.splitlines()[0] == "SIMULATED: training, no real GPU"
    assert "SIMULATED" not in table(frame())


def test_sm_active_has_no_column_where_no_gpu_has_it() -> None:
    assert "SM-ACT" not in table(one_gpu())
    assert "SM-ACT" in table(one_gpu({SM_ACTIVE: 0.0}))


def test_an_absent_value_is_a_dash_and_never_zero() -> None:
    shown = line(table(one_gpu({POWER_AVERAGE: Missing.UNSUPPORTED, GPU_UTILIZATION: Missing.UNSUPPORTED})), "0 ")

    assert "– / 700W" in shown
    assert shown.endswith("–")


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (GpuState.LOST, "LOST: it fell off the bus or needs a reset"),
        (GpuState.HUNG, "NO ANSWER: the driver does not answer"),
    ],
)
def test_a_gpu_that_does_not_answer_says_so_in_its_line(state: GpuState, words: str) -> None:
    assert line(table(one_gpu(state=state)), "0 ").endswith(words)


def test_mig_instances_stand_under_their_gpu_with_their_own_memory() -> None:
    instance = GpuInstance(
        id=2,
        profile="3g.40gb",
        metrics={MEMORY_USED.key: 2 * GIB, MEMORY_TOTAL.key: 40 * GIB, SM_ACTIVE.key: 33.0},
        compute_instances=(ComputeInstance(id=0, uuid="MIG-1", name="1c.3g.40gb"),),
    )
    lines = table(one_gpu(instances=(instance,))).splitlines()
    below = lines[[line.startswith("0 ") for line in lines].index(True) + 1]

    assert " ".join(below.split()) == "0:2 3g.40gb (1c.3g.40gb) 2.0GiB / 40.0GiB – 33%"


def test_the_sizes_of_memory_stand_under_each_other() -> None:
    small = gpu(1, {MEMORY_USED: 26 * GIB // 1024, MEMORY_TOTAL: 9 * GIB, POWER_LIMIT: 70.0})
    first, second = table(frame(gpus=(gpu(0), small), processes=())).splitlines()[3:5]

    assert [n for n, sign in enumerate(first) if sign == "/"] == [n for n, sign in enumerate(second) if sign == "/"]


def test_an_unusual_reason_is_told_once_at_the_end_and_a_usual_one_is_not() -> None:
    silent: dict[Metric[Any], Any] = {
        TEMPERATURE: Missing.FORBIDDEN,
        POWER_LIMIT: Missing.FORBIDDEN,
        SM_ACTIVE: Missing.UNSUPPORTED,
    }
    boxes = frame(gpus=(gpu(0), gpu(1, silent), gpu(2, silent)), processes=())

    assert table(boxes).splitlines()[-1] == "– GPU 1, 2: no permission: needs root or the owner"
    assert "not supported" not in table(boxes)


def test_a_list_of_processes_that_the_driver_refuses_is_told() -> None:
    refused = frame(gpus=(gpu(0, missing={"processes": Missing.FAULT}),), processes=())

    assert "– GPU 0: the driver answered with an error" in table(refused)


def test_processes_of_a_lost_gpu_do_not_repeat_its_reason() -> None:
    use = GpuProcess(gpu="GPU-00000000", gpu_index=0, type="C", missing={"memory_bytes": Missing.LOST})
    lost = frame(gpus=(gpu(0, state=GpuState.LOST),), processes=(process(gpus=(use,)),))

    assert table(lost).count("fell off the bus") == 1


def test_a_process_on_two_gpus_has_two_lines_in_the_order_of_the_gpus() -> None:
    lines = table(frame(2, processes=(process(50, 1, 0), process(7, 1)))).splitlines()[-3:]

    assert [line.split()[:2] for line in lines] == [["0", "50"], ["1", "7"], ["1", "50"]]


def test_the_command_is_whole_where_there_is_no_terminal() -> None:
    command = "python " + "x" * 500

    assert table(frame(1, processes=(process(command=command),))).endswith(command)


def test_all_columns_are_there_where_there_is_no_terminal() -> None:
    titles = table(frame(1)).splitlines()[-2]

    assert " ".join(titles.split()) == "GPU PID USER TYPE GPU-MEM SM% MBW% CPU% THR% RSS S NI NLWP TIME COMMAND"


@pytest.mark.parametrize("room", [200, 120, 80, 40])
def test_nothing_is_wider_than_the_terminal(room: int) -> None:
    crowd = tuple(process(n, 0, user="somebody.with.a.long.name", command="長い名前" * 40) for n in (1, 4_194_304))
    gpus = (gpu(0, {SM_ACTIVE: 1.0}), gpu(1, state=GpuState.LOST), gpu(12, name="NVIDIA RTX 6000 Ada Generation"))
    text = table(frame(gpus=gpus, processes=crowd, driver=DriverInfo(simulated="x" * 300)), room)

    assert max(width(line) for line in text.splitlines()) <= room


def test_the_command_takes_what_the_terminal_leaves() -> None:
    crowd = (process(1, 0, command="y" * 300),)

    assert width(table(frame(1, processes=crowd), 120).splitlines()[-1]) == 120


def test_wide_characters_keep_the_columns_aligned() -> None:
    crowd = (process(1, 0, user="学習太郎", command="a"), process(2, 0, user="ann", command="a"))
    lines = table(frame(1, processes=crowd)).splitlines()[-3:]
    where = [width(line[: line.index(sign)]) for line, sign in zip(lines, ("TYPE", "C ", "C "), strict=True)]

    assert len(set(where)) == 1


def test_hostile_text_is_harmless() -> None:
    crowd = (process(1, 0, command=HOSTILE, user=HOSTILE),)
    hostile = frame(
        gpus=(gpu(0, name=HOSTILE),), processes=crowd, driver=DriverInfo(version=HOSTILE), problems=(HOSTILE,)
    )
    text = table(hostile)

    assert all(sign.isprintable() for sign in text.replace("\n", ""))
    assert "␛[2J" in text


def test_a_pid_that_is_gone_says_so_in_place_of_its_command() -> None:
    gone = process(5, 0, presence=Presence.GONE, command="")

    assert table(frame(1, processes=(gone,))).endswith("exited; the driver still lists it")


def test_no_colour_unless_asked_and_then_only_round_the_same_text() -> None:
    hot = frame(gpus=(gpu(0, {TEMPERATURE: 88}), gpu(1, state=GpuState.LOST)))
    plain, coloured = table(hot), table(hot, None, Style.COLOUR)

    assert "\x1b" not in plain
    assert "\x1b[1;31m88°C\x1b[0m" in coloured
    assert _without_colour(coloured) == plain


def test_a_box_without_processes_says_so() -> None:
    assert table(frame(1, processes=())).endswith("no processes to show")


def test_a_driver_that_lists_no_processes_is_not_taken_for_idle_gpus() -> None:
    silent = gpu(0, missing={"processes": Missing.UNSUPPORTED})

    assert "the driver lists no processes: not supported" in table(frame((silent,), processes=()))


def test_a_box_without_gpus_says_so() -> None:
    assert "the driver lists no GPU. To pass GPUs to a container: docker run --gpus all" in table(frame(0)).splitlines()


def _without_colour(text: str) -> str:
    for code in ("0", "2", "33", "1;31"):
        text = text.replace(f"\x1b[{code}m", "")
    return text


def test_suspects_and_alarms_have_a_line_each_and_observations_none() -> None:
    given: dict[str, Any] = {"subject": Subject(label="GPU 0", gpu="GPU-0"), "since_s": NOW, "stage_since_s": NOW}
    found = tuple(Finding(code="it", stage=stage, summary=f"is {stage.value}", **given) for stage in Stage)

    text = table(frame(findings=found))

    assert "ALARM    GPU 0 · is alarm" in text
    assert "SUSPECT  GPU 0 · is suspect" in text
    assert "is observation" not in text


def test_a_table_without_findings_is_not_taken_for_a_healthy_machine() -> None:
    shown = line(table(frame(judged_in_s=120.0)), "not judged")

    assert shown == "not judged yet: gputop needs 2m00 to judge (gputop watch)"
    assert "not judged" not in table(frame(judged_in_s=None))
