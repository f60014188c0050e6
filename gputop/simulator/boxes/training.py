"""Eight H100: a torchrun job on all of them, an idle notebook that holds memory, an evaluation, a small server."""

from typing import Final

from gputop.simulator.boards import H100
from gputop.simulator.boxes.parts import (
    ANN,
    BOB,
    CHEN,
    DAY,
    DORA,
    GIB,
    HOUR,
    USERS,
    docker,
    gib,
    mib,
    pod,
    system,
    threads,
)
from gputop.simulator.curve import Curve, Ramp, noise, spread
from gputop.simulator.load import IDLE, embedding, evaluation, training
from gputop.simulator.plan import BoxPlan, GpuPlan, Health, ProcessPlan, Steps, ThreadPlan, Use

_UPTIME_S: Final = 23.4 * DAY
_BUSES: Final = (0x1B, 0x43, 0x52, 0x61, 0x9D, 0xC3, 0xD1, 0xDF)
_WARMER_C: Final = (0.0, 2.0, 5.0, 3.0, 1.0, 4.0, 6.0, 3.0)
_SHARED_WITH_EVALUATION: Final = 6
_LAUNCHER: Final = 48_211
_WORKERS: Final = 4
_PYTHON: Final = "/opt/llm/bin/python"
_SCRIPT: Final = ("train.py", "--config", "configs/llama3_8b.toml", "--bf16", "--fsdp")
_JOB: Final = "/system.slice/slurmstepd.scope/job_84213/step_0/user/task_0"
_STARTED: Final = 9.3 * HOUR
_RENDEZVOUS: Final = {"MASTER_ADDR": "dgx-07", "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "b41d7c0e"}


def plan() -> BoxPlan:
    """Return the box."""
    return BoxPlan(
        host="dgx-07", driver="570.124.06", cuda=12_080, users=USERS, viewer=ANN, cores=64,
        memory_bytes=int(1007 * GIB), uptime_s=_UPTIME_S, background=Curve(1.4),
        gpus=tuple(_gpu(n) for n in range(8)),
        processes=(*system(_UPTIME_S), *_training_job(), *_notebook(), _evaluation(), _embeddings()),
    )  # fmt: skip


def _gpu(index: int) -> GpuPlan:
    health = Health(ecc={(0, 0): 3, (0, 1): 41}, remapped=(1, 0, 0, 0)) if index == 5 else Health()
    return GpuPlan(board=H100, bus=_BUSES[index], warmer_c=_WARMER_C[index], health=health)


def _training_job() -> list[ProcessPlan]:
    step = ProcessPlan(
        pid=48_102, command=("slurmstepd: [84213.0]",), name="slurmstepd", uid=0, age_s=_STARTED + 20, memory=mib(18),
        cgroup="/system.slice/slurmstepd.scope/job_84213/step_0/slurm", threads=threads(0.0, idle=4),
    )  # fmt: skip
    launcher = ProcessPlan(
        pid=_LAUNCHER, parent=48_102, uid=ANN, age_s=_STARTED, name="torchrun", memory=mib(612), cgroup=_JOB,
        command=(_PYTHON, "/opt/llm/bin/torchrun", "--standalone", "--nproc-per-node=8", *_SCRIPT),
        threads=threads(0.01, idle=7), environ=_environ(),
    )  # fmt: skip
    processes = [step, launcher]
    for rank in range(8):
        processes.append(_rank(rank))
        processes += [_worker(rank, n) for n in range(_WORKERS)]
    return processes


def _environ() -> dict[str, str]:
    return {
        "SLURM_JOB_ID": "84213", "SLURM_STEP_ID": "0", "VIRTUAL_ENV": "/opt/llm", "NCCL_DEBUG": "WARN",
        "HF_HOME": "/scratch/hf", "WANDB_API_KEY": "0123456789-not-a-key", "WANDB_PROJECT": "llama3-8b",
    }  # fmt: skip


def _rank(rank: int) -> ProcessPlan:
    level = 76.0 if rank == _SHARED_WITH_EVALUATION else 96.0
    ranks = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 8, "LOCAL_WORLD_SIZE": 8, "GROUP_RANK": 0}
    return ProcessPlan(
        pid=_rank_pid(rank), parent=_LAUNCHER, uid=ANN, age_s=_STARTED - 4, command=(_PYTHON, "-u", *_SCRIPT),
        name="python", cgroup=_JOB, memory=gib(13.6 + 0.5 * spread(rank)),
        environ=_environ() | _RENDEZVOUS | {key: str(value) for key, value in ranks.items()},
        threads=(
            *threads(0.96, seed=rank, helpers=0.34),
            ThreadPlan(name="pt_autograd_0", cpu=Curve(0.21, noise(0.06, rank))),
            ThreadPlan(name="pt_nccl_watchdg", cpu=Curve(0.01)),
            ThreadPlan(cpu=Curve(), count=38),
        ),
        uses=(Use(gpu=rank, memory=gib(62.4 + 1.1 * spread(rank + 1)), activity=training(rank, level)),),
        steps=Steps(total=60_000, per_s=1.12, began_s=60 - _STARTED, loss=2.4) if rank == 0 else None,
    )  # fmt: skip


def _rank_pid(rank: int) -> int:
    return 48_276 + rank


def _worker(rank: int, number: int) -> ProcessPlan:
    """Return a data loader: forked from its rank, with the same command line, and without a CUDA context of its own."""
    seed = rank * _WORKERS + number
    return ProcessPlan(
        pid=48_640 + seed, parent=_rank_pid(rank), uid=ANN, age_s=_STARTED - 90, command=(_PYTHON, "-u", *_SCRIPT),
        name="pt_data_worker", cgroup=_JOB, memory=gib(1.2 + 0.3 * spread(seed)), environ=_environ() | _RENDEZVOUS,
        threads=threads(0.42 + 0.16 * spread(seed), seed=seed, idle=2), nice=5,
    )  # fmt: skip


def _notebook() -> list[ProcessPlan]:
    cgroup = "/system.slice/jupyter-bob-singleuser.service"
    python = "/home/bob/venv/bin/python"
    kernel = "/home/bob/.local/share/jupyter/runtime/kernel-5f0c2b1e.json"
    server = ProcessPlan(
        pid=31_544, uid=BOB, age_s=3.1 * DAY, command=(python, "-m", "jupyterhub.singleuser", "--port=41873"),
        name="jupyterhub-sing", memory=mib(184), cgroup=cgroup, threads=threads(0.01, idle=3),
    )  # fmt: skip
    return [
        server,
        ProcessPlan(
            pid=31_877, parent=31_544, uid=BOB, age_s=2.2 * DAY, name="python",
            command=(python, "-m", "ipykernel_launcher", "-f", kernel),
            memory=gib(5.3), cgroup=cgroup, threads=threads(0.004, idle=46),
            uses=(Use(gpu=2, memory=gib(9.7), activity=IDLE),),
        ),
    ]  # fmt: skip


def _evaluation() -> ProcessPlan:
    model = "pretrained=Qwen/Qwen2.5-7B-Instruct,dtype=bfloat16"
    return ProcessPlan(
        pid=57_903, parent=1203, uid=CHEN, age_s=0.8 * HOUR, inner_pid=1, cgroup=docker("lm-eval"), name="python3",
        command=("python3", "-m", "lm_eval", "--model", "hf", "--model_args", model, "--tasks", "mmlu,gsm8k"),
        memory=gib(7.9), threads=threads(0.88, seed=60, helpers=0.2, idle=33),
        uses=(
            Use(
                gpu=_SHARED_WITH_EVALUATION, activity=evaluation(17.0, 2),
                memory=Curve(12.2 * GIB, (Ramp(1.6 * GIB, 2880.0),)),
            ),
        ),
    )  # fmt: skip


def _embeddings() -> ProcessPlan:
    return ProcessPlan(
        pid=22_418, parent=1203, uid=DORA, age_s=11.6 * DAY, inner_pid=7, cgroup=pod("embeddings"),
        command=("text-embeddings-router", "--model-id", "BAAI/bge-m3", "--port", "8080"), memory=gib(1.9),
        name="text-embeddings", threads=threads(0.06, seed=70, helpers=0.03, idle=65),
        uses=(Use(gpu=3, memory=gib(2.9), activity=embedding(1.2, 1)),),
    )  # fmt: skip
