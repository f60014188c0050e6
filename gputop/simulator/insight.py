"""Insight into the processes of a simulated box: real code on invented stacks, and the collectives of a hung job."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from gputop.core.insight.collectives import CollectiveGroup, Collectives, RankCount
from gputop.core.insight.explanation import ClaimKind, InsightClaim, SourceReport, SourceState
from gputop.core.insight.member import Member
from gputop.core.insight.source import InsightSource
from gputop.core.insight.stacks import StackFrame
from gputop.machine.insight import kernel, mps, stacks
from gputop.machine.insight.explainer import Explainer
from gputop.machine.insight.py_spy import Refusal, Stack
from gputop.machine.proc.procfs import Reader
from gputop.simulator import Box

_HUNG: Final = {"trouble": (61_020, 61_021)}
"""By box, the ranks of a job that hangs: the first one never arrives."""
_STALLED: Final = frozenset({58_440})  # in the box trouble, waits for its loaders
_ROOT: Final = stacks.User(0)
_TORCH: Final = "/opt/llm/lib/python3.12/site-packages/torch"
_LOADER: Final = f"{_TORCH}/utils/data/dataloader.py"
_DISTRIBUTED: Final = f"{_TORCH}/distributed/distributed_c10d.py"
_SCRIPT: Final = "/home/ann/moe/pretrain.py"
_MAIN: Final = (StackFrame("main", _SCRIPT, 141), StackFrame("<module>", _SCRIPT, 166))
_BEHIND: Final = (
    StackFrame("Connection.poll", "/usr/lib/python3.12/multiprocessing/connection.py", 257),
    StackFrame("_MultiProcessingDataLoaderIter._try_get_data", _LOADER, 1275),
    StackFrame("_MultiProcessingDataLoaderIter._get_data", _LOADER, 1448),
    StackFrame("DataLoader.__next__", _LOADER, 730),
    StackFrame("train_epoch", _SCRIPT, 88),
    *_MAIN,
)
_WAITING: Final = (
    StackFrame("all_reduce", _DISTRIBUTED, 2906),
    StackFrame("sync_gradients", _SCRIPT, 57),
    StackFrame("train_epoch", _SCRIPT, 97),
    *_MAIN,
)
_WORKING: Final = (
    StackFrame("Module._call_impl", f"{_TORCH}/nn/modules/module.py", 1786),
    StackFrame("train_step", "train.py", 112),
    StackFrame("main", "train.py", 184),
    StackFrame("<module>", "train.py", 201),
)
_DEADLOCK: Final = (
    StackFrame("Popen.poll", "/usr/lib/python3.12/multiprocessing/popen_fork.py", 27),
    StackFrame("Process.join", "/usr/lib/python3.12/multiprocessing/process.py", 149),
    StackFrame("close_loader", "/home/ann/finetune.py", 61),
    StackFrame("main", "/home/ann/finetune.py", 118),
    StackFrame("<module>", "/home/ann/finetune.py", 131),
)
_NATIVE: Final = (
    StackFrame("ncclAllReduce", "/opt/llm/lib/libnccl.so.2", is_native=True),
    StackFrame("c10d::ProcessGroupNCCL::allreduce", f"{_TORCH}/lib/libtorch_cuda.so", is_native=True),
)
_OPERATION: Final = "all-reduce 1,204"
_LAST: Final = 1204
_HOST: Final = "shared-4"


def explainer_of_box(box: Box, wall: Callable[[], float] = time.time) -> Explainer:
    """Return the explainer of the processes of a box."""
    proc, hung = box.proc, _HUNG.get(box.name, ())

    def of_hung_job(members: Sequence[Member]) -> bool:
        return any(member.pid in hung for member in members)

    return Explainer(
        (
            InsightSource(name="stacks", title="Python stacks", ask=partial(_stacks, proc, hung)),
            InsightSource(name="nccl", title="NCCL RAS", ask=partial(_ras, hung), applies_to=of_hung_job),
            InsightSource(
                name="flight",
                title="PyTorch Flight Recorder",
                ask=partial(_recorder, hung),
                applies_to=of_hung_job,
            ),
            InsightSource(
                name="mps",
                title="CUDA MPS",
                ask=lambda members, _: mps.report_of(members, lambda _: box.mps.daemon(), [members[0].pid]),
                applies_to=lambda members: box.mps.daemon() is not None and len(members) > 0,
            ),
            InsightSource(name="kernel", title="Kernel", ask=lambda members, _: kernel.report_of(proc, members)),
        ),
        proc,
        wall=wall,
    )


def _stacks(proc: Reader, hung: Sequence[int], members: Sequence[Member], native: bool) -> SourceReport:  # noqa: FBT001 - the form of a source
    def dump(pid: int, is_native: bool, is_blocking: bool) -> Stack | Refusal:  # noqa: FBT001 - a Dump
        del is_blocking
        if b"python" not in proc.read(f"{pid}/cmdline"):
            return Refusal("Failed to find python version from target process")
        if pid not in hung:
            return Stack("", _DEADLOCK if pid in _STALLED else _WORKING)
        return Stack("", _BEHIND if pid == hung[0] else (*(_NATIVE if is_native else ()), *_WAITING))

    return stacks.report_of(members, proc, dump, _ROOT, is_native=native)


def _ras(hung: Sequence[int], members: Sequence[Member], native: bool) -> SourceReport:  # noqa: FBT001 - the form of a source
    """Return what NCCL counts: the first rank is behind, and the others wait for it."""
    del native
    ranks = tuple(
        RankCount(rank=rank, entered=_LAST - (rank == 0), operation="all-reduce", host=_HOST, pid=pid)
        for rank, pid in enumerate(hung)
    )
    group = CollectiveGroup(name="0x7c41f0d2", size=len(hung), ranks=ranks, behind=(0,), is_moving=False)
    return SourceReport(
        name="nccl", title="NCCL RAS", state=SourceState.ANSWERED, details=Collectives(groups=(group,)),
        claims=(*_claims(hung, members), InsightClaim(kind=ClaimKind.STANDS, pids=tuple(one.pid for one in members))),
    )  # fmt: skip


def _recorder(hung: Sequence[int], members: Sequence[Member], native: bool) -> SourceReport:  # noqa: FBT001 - the form of a source
    """Return what PyTorch recorded: the first unfinished operation of each rank, with its frames."""
    del native
    first, *waiting = hung
    ranks = (
        RankCount(rank=0, entered=_LAST - 1, completed=_LAST - 1, operation="all-reduce", pid=first),
        *(
            RankCount(
                rank=rank, entered=_LAST, completed=_LAST - 1, operation="all-reduce", pid=pid, status="started",
                frames=_WAITING[:3],
            )
            for rank, pid in enumerate(waiting, 1)
        ),
    )  # fmt: skip
    group = CollectiveGroup(name="default_pg", size=len(hung), ranks=ranks, behind=(0,))
    return SourceReport(
        name="flight", title="PyTorch Flight Recorder", state=SourceState.ANSWERED, note="each rank wrote a new dump",
        claims=_claims(hung, members), details=Collectives(groups=(group,), age_s=0.8),
    )  # fmt: skip


def _claims(hung: Sequence[int], members: Sequence[Member]) -> tuple[InsightClaim, ...]:
    """Return that the first rank is behind and the others wait, by pid if they are members."""
    asked = {member.pid for member in members}
    return tuple(
        InsightClaim(
            kind=ClaimKind.WAITS if rank else ClaimKind.BEHIND,
            operation=_OPERATION,
            pids=(pid,) if pid in asked else (),
            ranks=() if pid in asked else (rank,),
        )
        for rank, pid in enumerate(hung)
    )
