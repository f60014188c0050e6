"""What the detectors of behaviour share: effort above an idle context, roles, memory that does not grow."""

from __future__ import annotations

import pytest
from behaviours import GONE, IDLE, WORK, lone
from detector_benchmark.behaviour_frames import Rank, Scene, samples
from detector_benchmark.behaviour_shapes import H100, Board
from examples import process
from judging import judge_with

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.activity.activity import Activity
from gputop.core.detectors.activity.role import role_of
from gputop.core.model.owner import Owner

A40 = Board("NVIDIA A40", 300, 30, 110, has_gpm=False)


class Eye:
    """Keeps the activity of each look."""

    def __init__(self) -> None:
        self.activity = Activity()

    def detect(self, context: Context) -> list[Claim]:
        self.activity = Activity.of(context)
        return []


def after(*ranks: Rank, board: Board = H100) -> Activity:
    eye = Eye()
    judge = judge_with(eye=eye)
    for sample, jobs in samples(Scene(list(ranks), board)):
        judge.judge(sample, jobs)
    return eye.activity


def effort(activity: Activity) -> float:
    return activity.tracks[0].board.effort or 0.0


def test_a_job_that_was_always_busy_is_busy() -> None:
    assert effort(after(lone((WORK, 100)))) == pytest.approx(0.8, abs=0.15)


def test_an_idle_context_is_the_origin_even_above_the_usual_share_of_the_limit() -> None:
    assert effort(after(lone((IDLE, 60), (WORK, 60)), board=A40)) == pytest.approx(0.8, abs=0.05)
    assert effort(after(lone((IDLE, 120)), board=A40)) == pytest.approx(0.0, abs=0.05)


def test_the_power_of_an_empty_gpu_is_not_taken_for_that_of_a_context() -> None:
    board = after(lone((GONE, 100), (WORK, 60))).boards["GPU-00000000", None]

    assert board.empty_w == pytest.approx(70, abs=15)
    assert (board.idle_w() or 0.0) > 110


def test_what_is_gone_is_forgotten() -> None:
    activity = after(lone((WORK, 100), (GONE, 100)), lone((WORK, 200), gpu=1))

    assert len(activity._all) == 1


def test_a_process_is_followed_on_each_of_its_gpus() -> None:
    assert len(after(lone((WORK, 10)), lone((WORK, 10), gpu=1)).tracks) == 2


@pytest.mark.parametrize(
    ("command", "framework"),
    [
        ("VLLM::EngineCore", "vLLM"),
        ("python -m vllm.entrypoints.openai.api_server", None),
        ("python serve.py", None),
        ("/usr/bin/tritonserver", None),
        ("ray::ServeReplica:app", "Ray worker"),
        ("llama-server -m x.gguf", None),
    ],
)
def test_servers_are_known_by_what_they_run(command: str, framework: str | None) -> None:
    assert role_of(process(1, 0, command=command, owner=Owner(framework=framework)), {}).is_server


@pytest.mark.parametrize(
    ("command", "framework"),
    [
        ("python train.py --port 29500", "torchrun rank 0/8"),
        ("python train.py", None),
        ("llama-cli -m x.gguf", None),
        ("python train.py --observer", None),
        ("ray::RayTrainWorker", "Ray worker"),
    ],
)
def test_others_are_none_whatever_they_listen_to(command: str, framework: str | None) -> None:
    assert not role_of(process(1, 0, command=command, owner=Owner(framework=framework)), {}).is_server


def test_what_a_server_started_is_part_of_it() -> None:
    parent = process(1, command="vllm serve model", gpus=(), owner=Owner(framework="vLLM"))
    child = process(2, 0, parent_pid=1, command="python -c from multiprocessing.spawn import spawn_main")

    assert role_of(child, {1: parent}).is_server
    assert not role_of(child, {}).is_server


def test_a_program_below_a_debugger_is_interactive() -> None:
    debugger = process(1, command="cuda-gdb --args ./solver", gpus=())

    assert role_of(process(2, 0, command="./solver", parent_pid=1), {1: debugger}).is_interactive


@pytest.mark.parametrize(
    "command", ["python", "/usr/bin/ipython", "python -i setup.py", "python -m pdb train.py", "cuda-gdb ./a.out"]
)
def test_a_prompt_is_interactive(command: str) -> None:
    assert role_of(process(1, 0, command=command), {}).is_interactive


def test_a_script_is_not() -> None:
    assert not role_of(process(1, 0, command="python train.py"), {}).is_interactive
