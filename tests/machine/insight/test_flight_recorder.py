"""The source Flight Recorder with real processes, files and pipes, well-meant and hostile."""

import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from children import settle
from flight_dumps import dump, entry
from other_users import OTHER, give, needs_root

from gputop.core.insight.explanation import ClaimKind, SourceReport, SourceState
from gputop.core.insight.member import Member
from gputop.machine.control.audit import Audit
from gputop.machine.control.handle import TargetOpener
from gputop.machine.control.kernel import Kernel
from gputop.machine.insight.dump_file import ask_for_dump, read_dump
from gputop.machine.insight.dump_request import DumpRequests
from gputop.machine.insight.flight_recorder import FlightRecorder
from gputop.machine.insight.sources import SOURCES, without_requests
from gputop.machine.proc.procfs import RealProc
from gputop.machine.proc.stat import parse_stat
from gputop.machine.processes.reader import resolve_user

IDLE = "import sys; print('ready', flush=True); sys.stdin.read()"
ANSWERS = """
import os, sys
pipe = os.open(os.environ["TORCH_NCCL_DEBUG_INFO_PIPE_FILE"] + os.environ["RANK"] + ".pipe", os.O_RDWR)
print("ready", flush=True)
os.read(pipe, 1)
with open(os.environ["TORCH_FR_DUMP_TEMP_FILE"] + os.environ["RANK"], "wb") as file:
    file.write(open(sys.argv[1], "rb").read())
sys.stdin.read()
"""
WAITS = dump([entry(4), entry(5, done=False)])
LEFT = dump([entry(4)])


@contextmanager
def _process(program: str, rank: int, *words: str, **environment: str) -> Iterator[Member]:
    """Start a process of a rank that ends with its stdin."""
    environment = {name.upper(): value for name, value in environment.items()} | {"RANK": str(rank)}
    command = [sys.executable, "-c", program, *words]
    with subprocess.Popen(
        command, env=dict(os.environ) | environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"ready\n"
        stat = parse_stat(RealProc().read(f"{child.pid}/stat"))
        assert stat is not None
        try:
            yield Member(pid=child.pid, start_ticks=stat.start_ticks)
        finally:
            child.kill()


def _requests(folder: Path) -> DumpRequests:
    opener = TargetOpener(RealProc(), resolve_user, Kernel(), frozenset())
    return DumpRequests(opener, Audit(f"{folder}/state", "ann"))


def _save(path: Path, tree: object) -> Path:
    path.write_bytes(pickle.dumps(tree))
    return path


def _asked(folder: Path, *trees: object, wall: Callable[[], float] = time.time) -> SourceReport:
    """Ask about ranks with these dumps, which they have written after their start; None is no dump."""
    with ExitStack() as stack:
        members = [
            stack.enter_context(_process(IDLE, rank, torch_fr_dump_temp_file=f"{folder}/trace_"))
            for rank in range(len(trees))
        ]
        for rank, tree in enumerate(trees):
            if tree is not None:
                _save(folder / f"trace_{rank}", tree)
        return FlightRecorder(wall=wall).ask(members, False)


def test_the_rank_that_left_the_loop_is_named_from_dumps_of_a_timeout(tmp_path: Path) -> None:
    report = _asked(tmp_path, WAITS, LEFT, WAITS)

    assert report.state is SourceState.ANSWERED, report.note
    behind = next(claim for claim in report.claims if claim.kind is ClaimKind.BEHIND)
    assert (len(behind.pids), behind.operation) == (1, "all-reduce 5")
    assert next(claim for claim in report.claims if claim.kind is ClaimKind.WAITS).place == "all_reduce at train.py:88"


def test_a_rank_without_a_dump_is_not_accused_but_mentioned(tmp_path: Path) -> None:
    report = _asked(tmp_path, WAITS, None)

    assert {claim.kind for claim in report.claims} == {ClaimKind.WAITS}
    assert "no dump of the same minute from rank 1" in report.note


def test_a_rank_writes_a_new_dump_when_its_pipe_is_written(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe_0.pipe")
    new = _save(tmp_path / "new", WAITS)
    places = {"torch_nccl_debug_info_pipe_file": f"{tmp_path}/pipe_", "torch_fr_dump_temp_file": f"{tmp_path}/trace_"}
    with _process(ANSWERS, 0, str(new), **places) as member:
        _save(tmp_path / "trace_0", dump([entry(1)]))
        report = FlightRecorder(wait_s=30.0, requests=_requests(tmp_path)).ask([member], False)

    assert [claim.operation for claim in report.claims] == ["all-reduce 5"], report.note


def test_the_request_for_a_dump_is_missing_in_the_audit_log(tmp_path: Path) -> None:
    (tmp_path / "pipe_0.pipe").write_text("a file")
    places = {"torch_nccl_debug_info_pipe_file": f"{tmp_path}/pipe_", "torch_fr_dump_temp_file": f"{tmp_path}/trace_"}
    with _process(IDLE, 0, **places) as member:
        settle(member.pid)
        report = FlightRecorder(requests=_requests(tmp_path)).ask([member], False)

    audit = [json.loads(line) for line in (tmp_path / "state" / "audit.jsonl").read_text().splitlines()]
    assert [(line["event"], line["what"], line["pid"]) for line in audit] == [
        ("intent", "dump of the PyTorch Flight Recorder", member.pid),
        ("outcome", "dump of the PyTorch Flight Recorder", member.pid),
    ]
    assert audit[1]["detail"] in report.note
    assert audit[1]["detail"].endswith("it is not a pipe")


def test_without_a_pipe_nothing_is_requested_and_no_audit_log_begins(tmp_path: Path) -> None:
    with _process(IDLE, 0, torch_fr_dump_temp_file=f"{tmp_path}/trace_") as member:
        FlightRecorder(requests=_requests(tmp_path)).ask([member], False)

    assert not (tmp_path / "state").exists()


def test_a_dump_of_an_earlier_job_is_not_taken_for_this_one(tmp_path: Path) -> None:
    with _process(IDLE, 0, torch_fr_dump_temp_file=f"{tmp_path}/trace_") as member:
        os.utime(_save(tmp_path / "trace_0", WAITS), (1e9, 1e9))
        report = FlightRecorder().ask([member], False)

    assert report.state is SourceState.UNAVAILABLE
    assert "is of an earlier job" in report.note
    assert "TORCH_NCCL_DEBUG_INFO_PIPE_FILE" in report.remedy


def test_the_age_of_an_old_dump_is_stated(tmp_path: Path) -> None:
    report = _asked(tmp_path, WAITS, LEFT, wall=lambda: 9e9)

    assert "old" in report.note


def test_a_process_that_exited_is_not_asked() -> None:
    report = FlightRecorder().ask([Member(pid=os.getpid(), start_ticks=1, rank=0)], False)

    assert report.state is SourceState.UNAVAILABLE
    assert "has exited" in report.note


class _Runs:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self._path}",)


def test_a_pickle_that_runs_a_program_is_refused_and_runs_nothing(tmp_path: Path) -> None:
    report = _asked(tmp_path, {"version": "2.10", "entries": [_Runs(tmp_path / "ran")]})

    assert report.state is SourceState.UNAVAILABLE
    assert "could run a program: not read" in report.note
    assert not (tmp_path / "ran").exists()


def _deep() -> bytes:
    return b"\x80\x02" + b"]" * 300_000 + b"a" * 299_999 + b"."


def _deep_key() -> bytes:
    return b"\x80\x02}N" + b"\x85" * 1_000_000 + b"K\x01s."


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\x00\xff" * 100, id="binary"),
        pytest.param(b"\x80\x02}q\x01(X\x07\x00\x00", id="cut off"),
        pytest.param(b"\x80\x04\x8e" + (2**40).to_bytes(8, "little") + b"x", id="a string of a tebibyte"),
        pytest.param(b"\x80\x02]" + b"r\xff\xff\xff\x7f.", id="a huge memo"),
        pytest.param(b"\x80\x02P1\n.", id="a persistent reference"),
        pytest.param(b"\x80\x02\x82\x01.", id="a class of the extension registry"),
        pytest.param(_deep(), id="deep lists"),
        pytest.param(_deep_key(), id="deep keys"),
        pytest.param(b"cposix\nsystem\n(S'true'\ntR.", id="posix.system"),
    ],
)
def test_a_hostile_file_is_refused_with_a_word(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "trace"
    path.write_bytes(raw)

    with pytest.raises(ValueError, match=r"^[^\x00-\x1f]+$"):
        read_dump(str(path), os.geteuid())


def test_a_giant_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    with path.open("wb") as file:
        file.truncate(1 << 40)

    with pytest.raises(ValueError, match="larger than 64 MiB"):
        read_dump(str(path), os.geteuid())


def test_neither_a_pipe_nor_a_link_is_read_as_a_dump(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(_save(tmp_path / "dump", WAITS))

    with pytest.raises(ValueError, match="not a regular file"):
        read_dump(str(tmp_path / "pipe"), os.geteuid())
    with pytest.raises(OSError, match="symbolic links"):
        read_dump(str(tmp_path / "link"), os.geteuid())


@needs_root
def test_neither_a_file_nor_a_pipe_of_another_user_is_used(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(ValueError, match="another user"):
            ask_for_dump(str(give(tmp_path / "pipe")), os.geteuid())
        with pytest.raises(ValueError, match="another user"):
            read_dump(str(_save(tmp_path / "dump", WAITS)), OTHER)
    finally:
        os.close(reader)


def test_nothing_but_a_pipe_with_a_reader_is_written(tmp_path: Path) -> None:
    path = _save(tmp_path / "file", WAITS)
    before = path.read_bytes()
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(ValueError, match="not a pipe"):
        ask_for_dump(str(path), os.geteuid())
    with pytest.raises(OSError, match="No such device"):  # and it does not wait for a reader
        ask_for_dump(str(tmp_path / "pipe"), os.geteuid())
    assert path.read_bytes() == before


def test_read_only_asks_no_rank_to_write_a_dump(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe_0.pipe")
    places = {"torch_nccl_debug_info_pipe_file": f"{tmp_path}/pipe_", "torch_fr_dump_temp_file": f"{tmp_path}/trace_"}
    (flight,) = (row for row in without_requests(SOURCES) if row.name == "flight")
    with _process(IDLE, 0, **places) as member:
        reader = os.open(tmp_path / "pipe_0.pipe", os.O_RDONLY | os.O_NONBLOCK)
        try:
            _save(tmp_path / "trace_0", WAITS)
            report = flight.ask([member], False)

            assert [claim.operation for claim in report.claims] == ["all-reduce 5"], report.note
            assert os.read(reader, 1) == b""
        finally:
            os.close(reader)
