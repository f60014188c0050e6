"""Four H100 with faults: one falls off the bus, one hangs, one is too hot; an exited pid, a hostile name."""

from gputop.simulator.boards import H100
from gputop.simulator.boxes.parts import ANN, BOB, CHEN, DAY, DORA, GIB, HOUR, USERS, gib, system, threads
from gputop.simulator.curve import Curve
from gputop.simulator.load import IDLE, simulation, spinning, training
from gputop.simulator.plan import BoxPlan, GpuPlan, Health, Outage, ProcessPlan, Use

_UPTIME_S = 3.2 * DAY
LOST = Outage(first_s=20, length_s=60, period_s=150)
HUNG = Outage(first_s=45, length_s=30, period_s=150)
_WORN = Health(
    ecc={(0, 0): 18, (1, 0): 2, (0, 1): 977, (1, 1): 6}, remapped=(3, 2, 1, 0), pcie_replays=12, nvlink_replays=4,
    links_down=frozenset({11}), recovery_action=1,
)  # fmt: skip
_HOSTILE = (
    "\x1b]0;owned\x07\x1b[2J\x1b[31mpython",
    "a\nb\tc\r\x9b5m",
    "\u202egpj.exe",
    "[bold red]no markup[/]",
    "\udcff",
)


def plan() -> BoxPlan:
    """Return the box."""
    return BoxPlan(
        host="limbo", driver="570.124.06", cuda=12_080, users=USERS, viewer=ANN, cores=64,
        memory_bytes=int(503 * GIB), uptime_s=_UPTIME_S,
        gpus=(
            GpuPlan(board=H100, bus=0x18),
            GpuPlan(board=H100, bus=0x2A, hung=HUNG),
            GpuPlan(board=H100, bus=0x3A, lost=LOST, health=Health(pcie_replays=3)),
            GpuPlan(board=H100, bus=0x5D, warmer_c=29.0, health=_WORN),
        ),
        processes=(*system(_UPTIME_S), *_processes()),
        log=(
            (2.1 * DAY, "NVRM: Xid (PCI:0000:18:00): 31, pid=6120, name=python, Ch 00000008, intr 10000000. MMU Fault"),
            (2.0 * HOUR, "NVRM: Xid (PCI:0000:5d:00): 48, pid='<unknown>', name=<unknown>, DBE (double bit error)"),
            (2.0 * HOUR, "NVRM: Xid (PCI:0000:5d:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row"),
            (70.0, "NVRM: Xid (PCI:0000:3a:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
            (14.0 * HOUR, "NVRM: Xid (PCI:0000:5d:00): 43, pid=7498, name=lbm_gpu, Ch 00000010"),
        ),
    )  # fmt: skip


def _processes() -> list[ProcessPlan]:
    return [
        ProcessPlan(
            pid=7001, uid=ANN, age_s=6 * HOUR, command=("python", "train.py", "--resume", "step_41200"), memory=gib(9),
            cgroup="/user.slice/user-1001.slice/session-12.scope", threads=threads(0.95, seed=1, helpers=0.3, idle=30),
            uses=(
                Use(gpu=0, memory=gib(51), activity=training(0, 90)),
                Use(gpu=2, memory=gib(51), activity=training(2)),
            ),
        ),
        ProcessPlan(  # exited, and no process in /proc holds its memory
            pid=7113, uid=CHEN, age_s=1 * HOUR, command=("gone",), is_gone=True,
            uses=(Use(gpu=0, memory=gib(11.5), activity=IDLE),),
        ),
        ProcessPlan(
            pid=7240, uid=BOB, age_s=2 * HOUR, command=_HOSTILE, name="\x1b[1mbad) S (", memory=gib(1),
            cgroup="/user.slice/user-1002.slice/session-40.scope", threads=threads(0.2, seed=2, idle=5),
            uses=(Use(gpu=0, memory=gib(2.1), activity=IDLE),),
        ),
        ProcessPlan(  # waits in the kernel for a driver that does not answer
            pid=7355, uid=DORA, age_s=26 * HOUR, command=("./allreduce_test", "--size", "8G"), memory=gib(4), state="D",
            threads=threads(0.0, idle=11), uses=(Use(gpu=1, memory=gib(32), activity=spinning()),),
        ),
        ProcessPlan(
            pid=7498, uid=CHEN, age_s=15 * HOUR, command=("./lbm_gpu", "cavity.cfg"), memory=gib(2.7), nice=10,
            threads=threads(0.99, seed=4, idle=3), uses=(Use(gpu=3, memory=gib(44), activity=simulation(95)),),
        ),
        ProcessPlan(
            pid=7502, parent=7498, uid=CHEN, age_s=14 * HOUR, command=(), name="lbm_gpu", state="Z", memory=Curve(),
        ),
    ]  # fmt: skip
