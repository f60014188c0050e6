"""Processes that the kernel or a user has stopped, with memory of a GPU."""

from detector_benchmark.independent.activity import CNN, DECODE, IDLE, LLM, LORA, Activity
from detector_benchmark.independent.boards import A100, A6000, H100, L40S, RTX_4090, T4, Board
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import program
from detector_benchmark.independent.sketches import mib_of, scene, turns
from detector_benchmark.independent.trace import Scene, want

_OK = "blocked stalled idle"


def _blocked(seed: int, name: str, board: Board, work: Activity, command: str, state: str) -> Scene:
    """Work, then be in a state for ten minutes."""
    draw = Draw(seed, name)
    at_s = draw.between(200, 500)
    does = turns(draw.work(work).but(nv=0), at_s, IDLE.but(cpu=0.0, thread=0.0, state=state))
    actor = program("job", command, 0, does, mib_of(board, draw.between(0.3, 0.8)))
    return scene(seed, [board], [actor], at_s + 600, want("blocked", "job gpu:0", at_s, at_s + 300), allows=_OK)


def stopped_with_control_z(seed: int) -> Scene:
    """A user pressed Ctrl-Z and forgot the training; it holds an A100."""
    return _blocked(seed, "k3blocked1", A100, LLM, "python train.py", "T")


def stopped_on_a_desktop(seed: int) -> Scene:
    """A generation was stopped by a signal on an RTX 4090, to play a game, and never goes on."""
    return _blocked(seed, "k3blocked2", RTX_4090, DECODE, "python chat.py", "T")


def traced_by_a_debugger(seed: int) -> Scene:
    """A debugger holds a training on an A6000 for ten minutes."""
    return _blocked(seed, "k3blocked3", A6000, LORA, "./train_cpp", "t")


def waits_in_the_kernel_for_a_disk(seed: int) -> Scene:
    """A training is in D for ten minutes: the array with its checkpoints has failed."""
    return _blocked(seed, "k3blocked4", H100, LLM, "python train.py", "D")


def waits_in_the_driver(seed: int) -> Scene:
    """A process cannot be killed and is in D, in a call of the driver, with half of an L40S."""
    return _blocked(seed, "k3blocked5", L40S, CNN, "python serve_batch.py", "D")


def waits_for_a_file_server(seed: int) -> Scene:
    """A batch inference on a T4 is in D since the file server rebooted."""
    return _blocked(seed, "k3blocked6", T4, DECODE, "python infer.py --in /nfs/x", "D")
