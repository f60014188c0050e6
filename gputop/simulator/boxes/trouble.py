"""Eight H100 shared by four users, with one example of each finding."""

from collections.abc import Iterable
from typing import Any, Final

from msgspec import Struct

from gputop.simulator.boards import H100
from gputop.simulator.boxes.parts import ANN, BOB, CHEN, DAY, DORA, GIB, HOUR, USERS, docker, gib, mib, system, threads
from gputop.simulator.curve import Curve, Pulse, Ramp, noise, spread
from gputop.simulator.load import GB, IDLE, Activity, alone, spinning, together, training
from gputop.simulator.plan import BoxPlan, Fault, GpuPlan, Health, Outage, ProcessPlan, Steps, ThreadPlan, Use

_UPTIME_S: Final = 12.6 * DAY
_BUSES: Final = (0x1B, 0x43, 0x52, 0x61, 0x9D, 0xC3, 0xD1, 0xDF)
_PYTHON: Final = "/opt/llm/bin/python"
_HANG_S: Final = -480.0  # all of these in seconds since the simulation began
_STALL_S: Final = -620.0
_PARENT_DIES_S: Final = -700.0
_LEAVES_S: Final = -400.0
_HUNG: Final = (0, 1)
_FAKE, _LEAK, _STARVED = 2, 6, 7
_SLOW: Final = (3, 4, 5)
_HOT: Final = 5
_DAMAGED: Final = 4


def plan() -> BoxPlan:
    """Return the box."""
    return BoxPlan(
        host="shared-4", driver="570.124.06", cuda=12_080, users=USERS, viewer=0, cores=96,
        memory_bytes=int(1007 * GIB), uptime_s=_UPTIME_S, background=Curve(1.1),
        gpus=tuple(_gpu(n) for n in range(8)),
        processes=(
            *system(_UPTIME_S), *_hung_job(), *_slow_job(), *_starved(), _leak(), _fake(), *_left_behind(),
            *_idle_ones(),
        ),
    )  # fmt: skip


def _gpu(index: int) -> GpuPlan:
    damaged = Health(ecc={(0, 0): 212, (1, 0): 1, (0, 1): 4100, (1, 1): 2}, remapped=(2, 1, 1, 0))
    return GpuPlan(
        board=H100, bus=_BUSES[index], warmer_c=27.0 if index == _HOT else spread(index) * 5,
        health=damaged if index == _DAMAGED else Health(),
        faults={
            _DAMAGED: (Fault(63, Outage(40.0, 0.0, 1e9)),),
            _STARVED: (Fault(31, Outage(75.0, 0.0, 3600.0)),),
        }.get(index, ()),
        pcie_width=8 if index == _FAKE else 16,
        unowned=gib(9.2).since(_at(_LEAVES_S)) if index == _FAKE else Curve(),
    )  # fmt: skip


# --- a job whose ranks wait for one that does not arrive ------------------------------------------------------------
def _hung_job() -> list[ProcessPlan]:
    script = ("pretrain.py", "--config", "configs/moe_3b.toml")
    job = _Job(job="90117", pid=61_002, uid=ANN, age_s=5.1 * HOUR, script=script, world=len(_HUNG))
    steps = Steps(total=40_000, per_s=1.8, began_s=-5 * HOUR, stops_s=_HANG_S, loss=3.1)
    then = {0: (IDLE, 0.0), 1: (spinning(), 0.99)}  # rank 0 sleeps, rank 1 waits for it
    ranks = []
    for rank in _HUNG:
        activity, cpu = then[rank]
        changed = Curve(0.95).until(_at(_HANG_S)) + Curve(cpu).since(_at(_HANG_S))
        activity = together(training(rank).until(_at(_HANG_S)), activity.since(_at(_HANG_S)))
        use = Use(gpu=rank, memory=gib(41.0), activity=activity, type="M")
        ranks.append(job.rank(rank, use, changed, steps))
    return [_mps_server(), job.launcher(), *ranks]


def _mps_server() -> ProcessPlan:
    """Return the MPS server whose clients are the ranks of the hung job."""
    return ProcessPlan(
        pid=60_940, uid=ANN, age_s=5.2 * HOUR, command=("nvidia-cuda-mps-server",), name="nvidia-cuda-mps",
        memory=mib(310), cgroup="/user.slice/user-1001.slice/session-22.scope", threads=threads(0.01, idle=5),
        uses=tuple(Use(gpu=rank, memory=mib(38), activity=IDLE) for rank in _HUNG),
    )  # fmt: skip


# --- a job that one hot board slows down ----------------------------------------------------------------------------
def _slow_job() -> list[ProcessPlan]:
    script = ("sft.py", "--model", "llama3-8b", "--data", "chat-v4")
    job = _Job(job="90121", pid=61_302, uid=DORA, age_s=2.2 * HOUR, script=script, world=len(_SLOW))
    steps = Steps(total=24_000, per_s=1.31, began_s=-2.2 * HOUR, loss=1.2)
    uses = [Use(gpu=gpu, memory=gib(58.0 + rank), activity=training(gpu)) for rank, gpu in enumerate(_SLOW)]
    ranks = [job.rank(rank, use, Curve(0.94, noise(0.03, rank)), steps) for rank, use in enumerate(uses)]
    return [job.launcher(), *ranks]


class _Job(Struct, frozen=True, kw_only=True):
    """A Slurm job of torchrun. ``pid``: of the launcher; the ranks have the pids from 18 above it on."""

    job: str
    pid: int
    uid: int
    age_s: float
    script: tuple[str, ...]
    world: int

    def process(self, **fields: Any) -> ProcessPlan:
        """Return a process of the job."""
        cgroup = f"/system.slice/slurmstepd.scope/job_{self.job}/step_0/user/task_0"
        environ = {"SLURM_JOB_ID": self.job, "SLURM_STEP_ID": "0", "VIRTUAL_ENV": "/opt/llm"}
        return ProcessPlan(uid=self.uid, cgroup=cgroup, environ=environ | fields.pop("environ", {}), **fields)

    def launcher(self) -> ProcessPlan:
        """Return torchrun."""
        return self.process(
            pid=self.pid, age_s=self.age_s + 6, name="torchrun", memory=mib(580), threads=threads(0.01, idle=7),
            command=(_PYTHON, "/opt/llm/bin/torchrun", "--standalone", f"--nproc-per-node={self.world}", *self.script),
        )  # fmt: skip

    def rank(self, rank: int, use: Use, main: Curve, steps: Steps) -> ProcessPlan:
        """Return a rank, whose first thread does ``main``."""
        ranks = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": self.world, "TORCHELASTIC_RUN_ID": self.pid}
        return self.process(
            pid=self.pid + 18 + rank, parent=self.pid, age_s=self.age_s, command=(_PYTHON, "-u", *self.script),
            name="python", memory=gib(11 + rank), environ={key: str(value) for key, value in ranks.items()},
            threads=(ThreadPlan(cpu=main), *threads(0.0, idle=40)), uses=(use,), steps=steps if rank == 0 else None,
        )  # fmt: skip


# --- three jobs, each alone on a GPU --------------------------------------------------------------------------------
def _leak() -> ProcessPlan:
    """Return a job that leaks 62 MiB a minute, with little memory left."""
    age_s, lasts_s, grows = 1000.0, 1.2 * HOUR, 62 / 1024 / 60
    leak = Curve(74.6 * GIB, (Ramp(grows * lasts_s * GIB, lasts_s, _at(-age_s)),))
    return ProcessPlan(
        pid=52_377, uid=CHEN, age_s=age_s, name="python", cgroup=docker("segment"), parent=1203, inner_pid=1,
        command=("python", "train_seg.py", "--crop", "1024", "--log-images"), memory=gib(14),
        threads=threads(0.93, seed=5, helpers=0.3, idle=30),
        steps=Steps(total=90_000, per_s=4.6, began_s=-age_s + 40, loss=0.9, cached_bytes=0.7 * GIB),
        uses=(Use(gpu=_LEAK, activity=alone(training(_LEAK, 91.0)), memory=leak),),
    )  # fmt: skip


def _fake() -> ProcessPlan:
    """Return a job that fills the GPU with kernels that do almost nothing."""
    busy = Curve(98.0, noise(0.8, 3))
    activity = Activity(gpu=busy, sm=busy * 0.1, occupancy=busy * 0.03, memory=busy * 0.03, power=busy * 0.0016)
    return ProcessPlan(
        pid=49_881, uid=BOB, age_s=3.3 * HOUR, command=("python", "rl_env.py", "--envs", "4096"), memory=gib(6),
        cgroup="/user.slice/user-1002.slice/session-31.scope", threads=threads(0.985, seed=9, idle=12), terminal=34_821,
        uses=(Use(gpu=_FAKE, memory=gib(12.3), activity=activity),),
    )  # fmt: skip


def _starved() -> list[ProcessPlan]:
    """Return a job that waits for slow data loaders."""
    busy = Curve(3.0, (Pulse(88.0, 1.3, 3.6, 0.4),))
    activity = Activity(
        gpu=busy, memory=busy * 0.4, sm=busy * 0.8, tensor=busy * 0.4, dram=busy * 0.4, power=busy * 0.0078,
        pcie_rx=busy * (0.02 * GB), pcie_tx=busy * (0.002 * GB),
    )  # fmt: skip
    command = ("python", "train_video.py", "--workers", "6", "--decode", "cpu")
    cgroup = "/user.slice/user-1003.slice/session-8.scope"
    main = ProcessPlan(
        pid=57_110, uid=CHEN, age_s=1.6 * HOUR, command=command, name="python", cgroup=cgroup, memory=gib(19),
        threads=threads(0.31, seed=2, idle=22), uses=(Use(gpu=_STARVED, memory=gib(31.0), activity=activity),),
        steps=Steps(total=52_000, per_s=0.28, began_s=-1.6 * HOUR, loss=2.2),
    )  # fmt: skip
    workers = [
        ProcessPlan(
            pid=57_140 + n, parent=57_110, uid=CHEN, age_s=1.6 * HOUR - 40, command=command, name="pt_data_worker",
            cgroup=cgroup, memory=gib(2.1), threads=threads(0.96 + 0.02 * spread(n), seed=n, idle=2),
        )
        for n in range(6)
    ]  # fmt: skip
    return [main, *workers]


# --- memory that no live process uses -------------------------------------------------------------------------------
def _left_behind() -> list[ProcessPlan]:
    """Return an exited pid, a process that leaves memory behind, a zombie with a child, an orphan without launcher."""
    session = "/user.slice/user-1002.slice/session-19.scope"
    return [
        ProcessPlan(
            pid=44_013, uid=DORA, age_s=7 * HOUR, command=("gone",), is_gone=True,
            uses=(Use(gpu=0, memory=gib(11.5), activity=IDLE),),
        ),
        ProcessPlan(
            pid=53_204, uid=CHEN, age_s=2 * HOUR, command=("./md_gpu", "-i", "run7.inp"), ends_s=_LEAVES_S,
            cgroup="/user.slice/user-1003.slice/session-8.scope", memory=gib(3), threads=threads(0.4, seed=7, idle=4),
            uses=(Use(gpu=_FAKE, memory=gib(9.2), activity=IDLE),),
        ),
        ProcessPlan(
            pid=45_530, uid=BOB, age_s=6 * HOUR, command=(), name="python", state="Z", cgroup=session, parent=45_501,
            uses=(Use(gpu=1, memory=gib(2.4), activity=IDLE),), memory=Curve(),
        ),
        ProcessPlan(
            pid=45_501, uid=BOB, age_s=6.1 * HOUR, command=("bash", "sweep.sh"), cgroup=session, memory=mib(4),
        ),
        ProcessPlan(
            pid=45_561, uid=BOB, age_s=6 * HOUR, command=("python", "eval.py", "--fork"), parent=45_530, cgroup=session,
            memory=gib(2), threads=threads(0.0, idle=3),
        ),
        ProcessPlan(
            pid=47_700, uid=BOB, age_s=1.9 * HOUR, command=("/opt/llm/bin/accelerate", "launch", "lora.py"),
            cgroup=session, memory=mib(300), ends_s=_PARENT_DIES_S, threads=threads(0.01, idle=4),
        ),
        ProcessPlan(
            pid=47_733, parent=47_700, uid=BOB, age_s=1.9 * HOUR - 8, command=("python", "-u", "lora.py"),
            memory=gib(5), cgroup=session, threads=threads(0.0, idle=24),
            uses=(Use(gpu=_FAKE, memory=gib(5.6), activity=IDLE),),
        ),
    ]  # fmt: skip


# --- idle processes -------------------------------------------------------------------------------------------------
def _idle_ones() -> Iterable[ProcessPlan]:
    """Return a notebook, a stopped process, one that waits for a file server, one that spins, and one in a deadlock."""
    kernel = "/home/dora/.local/share/jupyter/runtime/kernel-5f0c2b1e.json"
    stalled = ("python", "finetune.py", "--workers", "4")
    user = "/user.slice/user-1001.slice/session-22.scope"
    work = alone(training(_FAKE, 60.0)).until(_at(_STALL_S))
    return [
        ProcessPlan(
            pid=31_877, uid=DORA, age_s=2.2 * DAY, command=("python", "-m", "ipykernel_launcher", "-f", kernel),
            name="python", memory=gib(5.3), cgroup="/system.slice/jupyter-dora-singleuser.service",
            threads=threads(0.004, idle=46), uses=(Use(gpu=1, memory=gib(21.3), activity=IDLE),),
        ),
        ProcessPlan(
            pid=50_266, uid=ANN, age_s=3 * HOUR, command=("python", "ablate.py", "--seed", "7"), memory=gib(4),
            state="T", cgroup=user, terminal=34_817, threads=threads(0.0, idle=20),
            uses=(Use(gpu=0, memory=gib(6.4), activity=IDLE),),
        ),
        ProcessPlan(
            pid=52_090, uid=CHEN, age_s=5 * HOUR, command=("python", "eval.py", "--data", "/mnt/nfs/imagenet"),
            memory=gib(3), state="D", cgroup="/user.slice/user-1003.slice/session-9.scope",
            threads=threads(0.0, idle=9), uses=(Use(gpu=0, memory=gib(3.4), activity=IDLE),),
        ),
        ProcessPlan(
            pid=54_619, uid=BOB, age_s=0.9 * HOUR, command=("python", "tokenize_then_train.py"), memory=gib(9),
            cgroup="/user.slice/user-1002.slice/session-31.scope", threads=threads(0.99, seed=8, idle=9),
            uses=(Use(gpu=1, memory=gib(3.1), activity=IDLE),),
        ),
        ProcessPlan(
            pid=58_440, uid=ANN, age_s=1.2 * HOUR, command=stalled, memory=gib(8), cgroup=user,
            threads=(ThreadPlan(cpu=Curve(0.9).until(_at(_STALL_S))), *threads(0.0, idle=20)),
            uses=(Use(gpu=_FAKE, memory=gib(18.2), activity=work),),
        ),
        *(
            ProcessPlan(
                pid=58_460 + n, parent=58_440, uid=ANN, age_s=1.2 * HOUR - 30, command=stalled, name="pt_data_worker",
                memory=gib(1.4), cgroup=user, threads=(ThreadPlan(cpu=Curve(0.4).until(_at(_STALL_S))),),
            )
            for n in range(4)
        ),
    ]  # fmt: skip


def _at(seconds: float) -> float:
    """Return an instant in seconds since the boot, from seconds since the simulation began."""
    return _UPTIME_S + seconds
