"""Two A100 and an H100, two of them in MIG mode: instances of several sizes, gaps in their numbers, MPS."""

from gputop.simulator.boards import A100, H100
from gputop.simulator.boxes.parts import ANN, BOB, CHEN, DAY, DORA, GIB, HOUR, USERS, gib, mib, pod, system, threads
from gputop.simulator.curve import Curve, Ramp
from gputop.simulator.load import IDLE, alone, embedding, evaluation, serving, simulation, training
from gputop.simulator.plan import BoxPlan, GpuPlan, InstancePlan, ProcessPlan, Use

_UPTIME_S = 68.0 * DAY
_A100_INSTANCES = (
    InstancePlan(slot=0, gpu_instance=1, profile="3g.20gb", start=4),
    InstancePlan(slot=2, gpu_instance=3, profile="2g.10gb"),
    InstancePlan(slot=3, gpu_instance=9, profile="1g.5gb", start=2),
    InstancePlan(slot=5, gpu_instance=11, profile="1g.5gb", start=3),
)
_H100_INSTANCES = (
    InstancePlan(slot=0, gpu_instance=1, profile="4g.40gb", compute_instance=0, compute_profile="2c.4g.40gb"),
    InstancePlan(slot=1, gpu_instance=1, profile="4g.40gb", compute_instance=1, compute_profile="2c.4g.40gb"),
    InstancePlan(slot=4, gpu_instance=6, profile="1g.20gb", start=4),
    InstancePlan(slot=6, gpu_instance=13, profile="1g.10gb", start=6),
)


def plan() -> BoxPlan:
    """Return the box. Its older driver lacks some functions."""
    return BoxPlan(
        host="mig-3", driver="535.183.01", cuda=12_020, users=USERS, viewer=ANN, cores=48,
        memory_bytes=int(503 * GIB), uptime_s=_UPTIME_S,
        outdated=frozenset({"nvmlDeviceGetTemperatureV", "nvmlDeviceGetMarginTemperature"}),
        gpus=(
            GpuPlan(board=A100, bus=0x07, instances=_A100_INSTANCES, warmer_c=2.0),
            GpuPlan(board=A100, bus=0x0F, warmer_c=4.0),
            GpuPlan(board=H100, bus=0x87, instances=_H100_INSTANCES, warmer_c=1.0),
        ),
        processes=(*system(_UPTIME_S), *_on_the_first(), *_on_the_whole(), *_on_the_third()),
    )  # fmt: skip


def _on_the_first() -> list[ProcessPlan]:
    return [
        ProcessPlan(
            pid=30_411, parent=1203, uid=ANN, age_s=4.6 * HOUR, inner_pid=1, cgroup=pod("vit"), memory=gib(6.2),
            command=("python", "finetune.py", "--model", "vit-large", "--epochs", "30"),
            threads=threads(0.93, seed=1, helpers=0.2, idle=30), environ={"HOSTNAME": "vit-finetune-0"},
            uses=(Use(gpu=0, gpu_instance=1, compute_instance=0, memory=gib(14.1), activity=alone(training(1, 92))),),
        ),
        ProcessPlan(  # a command line in several scripts
            pid=30_562, parent=1203, uid=BOB, age_s=1.7 * HOUR, inner_pid=1, cgroup=pod("images"), memory=gib(3.3),
            command=("python", "тренировка.py", "--данные", "/данные/снимки", "--метка", "图像分类", "--größe", "224"),
            threads=threads(0.71, seed=2, idle=22),
            uses=(
                Use(
                    gpu=0, gpu_instance=3, compute_instance=0, activity=evaluation(55.0, 4),
                    memory=Curve(5.2 * GIB, (Ramp(2.4 * GIB, 1900.0),)),
                ),
            ),
        ),
        ProcessPlan(
            pid=30_788, parent=1203, uid=DORA, age_s=9.0 * DAY, inner_pid=1, cgroup=pod("whisper"), memory=gib(1.4),
            command=("whisper-server", "--model", "large-v3", "--port", "9000"), threads=threads(0.09, seed=3, idle=18),
            uses=(Use(gpu=0, gpu_instance=9, compute_instance=0, memory=gib(3.2), activity=embedding(40.0, 2)),),
        ),
    ]  # fmt: skip


def _on_the_whole() -> list[ProcessPlan]:
    """Return a simulation of two processes that share the GPU through MPS."""
    cgroup = "/system.slice/slurmstepd.scope/job_5521/step_0/user/task_0"
    server = ProcessPlan(
        pid=18_020, uid=CHEN, age_s=1.1 * DAY, command=("nvidia-cuda-mps-server",), name="nvidia-cuda-mps",
        memory=mib(310), cgroup=cgroup, threads=threads(0.02, idle=5),
        uses=(Use(gpu=1, memory=mib(38), activity=IDLE),),
    )  # fmt: skip
    clients = [
        ProcessPlan(
            pid=18_233 + n, uid=CHEN, age_s=1.1 * DAY - 30, cgroup=cgroup, memory=gib(2.1), nice=0,
            command=("gmx_mpi", "mdrun", "-deffnm", f"prod_{n}", "-nb", "gpu", "-ntomp", "12"),
            threads=threads(0.97, seed=4 + n, helpers=0.9, idle=10),
            uses=(Use(gpu=1, memory=gib(8.8 + n), activity=simulation(45.0, n), type="M"),),
        )
        for n in range(2)
    ]  # fmt: skip
    return [server, *clients]


def _on_the_third() -> list[ProcessPlan]:
    return [
        ProcessPlan(
            pid=41_007, parent=1203, uid=DORA, age_s=6.3 * DAY, inner_pid=1, cgroup=pod("triton"), memory=gib(5.0),
            command=("tritonserver", "--model-repository=/models", "--http-port=8000"),
            threads=threads(0.35, seed=7, helpers=0.2, idle=54),
            uses=(Use(gpu=2, gpu_instance=1, compute_instance=0, memory=gib(18.4), activity=serving(22.0, 2)),),
        ),
        ProcessPlan(
            pid=41_218, parent=1203, uid=ANN, age_s=2.9 * HOUR, inner_pid=1, cgroup=pod("distill"), memory=gib(4.1),
            command=("python", "distill.py", "--teacher", "llama3-8b", "--student", "llama3-1b"),
            threads=threads(0.95, seed=8, helpers=0.15, idle=26),
            uses=(Use(gpu=2, gpu_instance=1, compute_instance=1, memory=gib(13.7), activity=alone(training(3, 44))),),
        ),
        ProcessPlan(
            pid=41_530, parent=1203, uid=CHEN, age_s=0.5 * HOUR, inner_pid=1, cgroup=pod("eval"), memory=gib(3.0),
            command=("python", "-m", "lm_eval", "--model", "vllm", "--tasks", "arc_challenge"),
            threads=threads(0.8, seed=9, idle=20),
            uses=(Use(gpu=2, gpu_instance=6, compute_instance=0, memory=gib(16.9), activity=evaluation(70.0, 5)),),
        ),
        ProcessPlan(
            pid=41_911, parent=1203, uid=BOB, age_s=1.8 * DAY, inner_pid=1, cgroup=pod("notebook"), memory=gib(2.2),
            command=("python", "-m", "ipykernel_launcher", "-f", "/home/bob/kernel-77a1.json"),
            threads=threads(0.003, idle=19),
            uses=(Use(gpu=2, gpu_instance=13, compute_instance=0, memory=gib(4.5), activity=IDLE),),
        ),
    ]  # fmt: skip
