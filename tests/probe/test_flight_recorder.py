"""The source Flight Recorder beside a real job of torch with gloo that hangs because a rank leaves the loop."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Timer

import pytest

from gputop.core.insight.explanation import ClaimKind, SourceState
from gputop.core.insight.member import Member
from gputop.machine.insight.flight_recorder import FlightRecorder
from gputop.machine.proc.procfs import RealProc
from gputop.machine.proc.stat import parse_stat

pytest.importorskip("torch", reason="torch is not installed: make probe-tests")

TOOLS = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))

# gloo records, but only NCCL has the pipe and the dump at a timeout, so each rank writes its own dump here
JOB = """
import os, pickle, sys, threading, time
from datetime import timedelta
import torch, torch.distributed as dist
from torch._C._distributed_c10d import _dump_fr_trace

rank = int(os.environ["RANK"])
store = "file://" + sys.argv[1]
dist.init_process_group("gloo", init_method=store, rank=rank, world_size=2, timeout=timedelta(hours=1))

def step():
    dist.all_reduce(torch.ones(4))

def is_settled(entries, last):
    return entries[-1]["collective_seq_id"] == last and all(entry["retired"] for entry in entries[:3])

def save(last):
    raw = _dump_fr_trace()
    while not is_settled(pickle.loads(raw)["entries"], last):
        time.sleep(0.05)
        raw = _dump_fr_trace()
    with open(os.environ["TORCH_FR_DUMP_TEMP_FILE"] + str(rank), "wb") as file:
        file.write(raw)
    print("ready", flush=True)

for number in range(3):
    step()
if rank == 0:
    threading.Thread(target=save, args=(4,), daemon=True).start()
    step()
else:
    save(3)
    sys.stdin.read()  # it left the loop
"""
LEFT_AT = JOB.splitlines().index("    sys.stdin.read()  # it left the loop") + 1


@contextmanager
def _rank(number: int, folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    environment = {"RANK": str(number), "TORCH_FR_DUMP_TEMP_FILE": f"{folder}/trace_", "TORCH_FR_BUFFER_SIZE": "100"}
    program = folder / "train.py"
    program.write_text(JOB)
    with subprocess.Popen(
        [sys.executable, str(program), f"{folder}/store"], env=dict(os.environ) | environment,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as child:  # fmt: skip
        late = Timer(300, child.kill)
        late.start()
        try:
            yield child
        finally:
            late.cancel()
            child.kill()


def _member(child: "subprocess.Popen[bytes]") -> Member:
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    stat = parse_stat(RealProc().read(f"{child.pid}/stat"))
    assert stat is not None
    return Member(pid=child.pid, start_ticks=stat.start_ticks)


def test_the_rank_that_left_the_loop_and_the_line_where_the_other_waits_are_named(tmp_path: Path) -> None:
    with ExitStack() as stack:
        children = [stack.enter_context(_rank(number, tmp_path)) for number in range(2)]
        waiting, gone = (_member(child) for child in children)
        report = FlightRecorder().ask([waiting, gone], False)

    assert report.state is SourceState.ANSWERED, report.note
    claims = {claim.kind: claim for claim in report.claims}
    assert (claims[ClaimKind.BEHIND].pids, claims[ClaimKind.BEHIND].operation) == ((gone.pid,), "all-reduce 4")
    assert claims[ClaimKind.WAITS].pids == (waiting.pid,)
    assert claims[ClaimKind.WAITS].place.startswith("all_reduce at train.py:")


@pytest.mark.skipif(shutil.which("py-spy", path=TOOLS) is None, reason="py-spy is not installed")
def test_gputop_explain_names_the_rank_that_left_and_its_line(tmp_path: Path) -> None:
    with ExitStack() as stack:
        children = [stack.enter_context(_rank(number, tmp_path)) for number in range(2)]
        waiting, gone = (_member(child) for child in children)
        done = subprocess.run(
            [sys.executable, "-m", "gputop", "explain", str(waiting.pid), str(gone.pid)],
            capture_output=True, check=False, text=True, timeout=300, env=os.environ | {"PATH": TOOLS},
        )  # fmt: skip

    verdict = done.stdout.splitlines()[1]
    assert done.returncode == 0, done.stderr
    assert verdict.startswith(f"rank 1 never entered all-reduce 4: it is in <module> at train.py:{LEFT_AT}")
    assert "rank 0 waits for it" in verdict
