"""Looking at one process: a real child, an invented one, and those of the simulated boxes."""

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from children import FAR, UNMAPPED, child, start_ticks
from fake_proc import BOOT_S, EACCES, ESRCH, FakeProc, stat_line
from simulated import box

from gputop.core.inspection.inspection import Ancestor, Inspection, Limit, Mapping, MemoryParts, OpenFile, Variable
from gputop.core.inspection.text import sections
from gputop.core.model.metric import Missing
from gputop.core.protocol.command import Inspect
from gputop.machine.inspect.costly import CostlyParts
from gputop.machine.inspect.inspector import Inspector, inspector_of_this_machine
from gputop.simulator import BOXES

NOW = 1_800_000_000.0
STATUS = (
    b"Name:\tx\nUid:\t1000\t0\t0\t0\nVmRSS:\t   100 kB\nRssAnon:\t 60 kB\nRssFile:\t 30 kB\nRssShmem:\t 10 kB\n"
    b"VmSwap:\t  5 kB\nThreads:\t1\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t3\n"
)
MAPS = (
    b"1000-3000 r-xp 00000000 08:01 1      /lib/libcuda.so.1\n"
    b"3000-4000 rw-p 00000000 00:00 0\n"
    b"4000-5000 r--p 00002000 08:01 1      /lib/libcuda.so.1\n"
    b"5000-a000 r--p 00000000 08:01 2      /data/a model\x1b[2J.safetensors\n"
    b"b000-f000 rw-p 00000000 00:00 0      [heap]\n"
    b"cut sho"
)
OWN = ("environ", "io", "maps")


def proc(pid: int = 7, **fields: Any) -> FakeProc:
    made = FakeProc()
    made.add(pid, **fields)
    made.tell(pid, environ=b"HF_TOKEN=hf_abc\0PATH=/bin\0=odd\0none\0EVIL=\x1b]0;x\x07\0")
    made.files |= {f"{pid}/status": STATUS, f"{pid}/maps": MAPS, f"{pid}/io": IO, f"{pid}/limits": LIMITS}
    made.links |= {f"{pid}/cwd": "/home/ann", f"{pid}/exe": "/usr/bin/python3 (deleted)"}
    made.open_files(pid, "/dev/null", "/dev/nvidia0", "/dev/nvidiactl")
    made.add_threads(pid, {7: 100, 8: 900})
    return made


IO = b"rchar: 5\nwchar: 6\nsyscr: 1\nsyscw: 1\nread_bytes: 7\nwrite_bytes: 8\ncancelled_write_bytes: 0\n"
LIMITS = (
    b"Limit                     Soft Limit           Hard Limit           Units     \n"
    b"Max open files            1024                 unlimited            files     \n"
    b"Max locked memory         8388608              8388608              bytes     \n"
)


def look(held: FakeProc, pid: int = 7, **asked: Any) -> Inspection:
    reader = Inspector(held, {1000: "ann"}.get, clock_ticks=100, wall=lambda: NOW, costly=lambda *_: CostlyParts())
    return reader.inspect(Inspect(id="q", pid=pid, **asked))


def test_all_parts_of_a_process_are_read() -> None:
    found = look(proc())

    assert (found.id, found.pid, found.start_ticks, found.time_s) == ("q", 7, 5000, NOW)
    assert (found.user, found.name, found.state) == ("ann", "python", "S")
    assert found.started_s == BOOT_S + 50
    assert found.command == ("python", "train.py")
    assert (found.directory, found.executable) == ("/home/ann", "/usr/bin/python3 (deleted)")
    assert found.cgroup == ("0::/",)
    assert (found.voluntary_switches, found.involuntary_switches) == (7, 3)
    assert found.limits == (Limit("open files", 1024, None), Limit("locked memory", 8_388_608, 8_388_608))
    assert found.transfers is not None
    assert found.transfers.storage_written_bytes == 8
    assert (found.missing, found.shortened, found.problem) == ({}, (), "")


def test_memory_is_split_by_what_it_is_made_of() -> None:
    assert look(proc()).memory == MemoryParts(
        resident_bytes=102_400, anonymous_bytes=61_440, file_bytes=30_720, shared_bytes=10_240, swapped_bytes=5120
    )


def test_mapped_files_are_summed_and_the_largest_comes_first() -> None:
    assert look(proc()).mappings == (
        Mapping("/data/a model␛[2J.safetensors", 0x5000),
        Mapping("/lib/libcuda.so.1", 0x3000),
    )


def test_gpu_devices_are_picked_from_the_open_files() -> None:
    found = look(proc())

    assert found.open_files == 3
    assert found.devices == (OpenFile(1, "/dev/nvidia0"), OpenFile(2, "/dev/nvidiactl"))


def test_descriptors_that_may_be_counted_but_not_followed_are_forbidden_and_not_closed() -> None:
    held = proc()
    links = [name for name in held.links if name.startswith("7/fd/")]
    held.links |= dict.fromkeys(links, EACCES)
    found = look(held)

    assert links
    assert (found.files, found.devices, found.open_files) == ((), (), len(links))
    assert found.missing["files"] is Missing.FORBIDDEN


def test_the_busiest_thread_comes_first() -> None:
    assert [(thread.tid, thread.cpu_s) for thread in look(proc()).threads] == [(8, 9.0), (7, 1.0)]


def test_of_many_threads_512_are_read_and_all_are_counted() -> None:
    held = proc()
    held.add_threads(7, dict.fromkeys(range(1000, 1600), 1))
    found = look(held)

    assert (len(found.threads), found.thread_count, found.shortened) == (512, 600, ("threads",))


def test_secrets_stay_in_the_machine_room_unless_they_are_asked_for() -> None:
    masked, revealed = look(proc()).environment, look(proc(), reveal=True).environment

    assert Variable("HF_TOKEN", None, is_secret=True) in masked
    assert Variable("HF_TOKEN", "hf_abc", is_secret=True) in revealed
    assert Variable("PATH", "/bin") in masked


def test_a_secret_of_a_command_line_never_leaves_an_inspection_unless_it_is_revealed() -> None:
    held = proc()
    held.files["7/cmdline"] = b"vllm\0serve\0--api-key\0hunter2\0"

    assert look(held).command == ("vllm", "serve", "--api-key", "••••••••")
    assert look(held, reveal=True).command == ("vllm", "serve", "--api-key", "hunter2")


def test_text_of_an_environment_is_harmless() -> None:
    assert Variable("EVIL", "␛]0;x␇") in look(proc()).environment


def test_what_belongs_to_somebody_else_is_missing_with_its_reason() -> None:
    held = proc()
    held.files |= {f"7/{name}": EACCES for name in OWN}
    held.links |= {"7/cwd": EACCES, "7/exe": EACCES}
    held.directories["7/fd"] = EACCES
    found = look(held)

    parts = ("directory", "executable", "environment", "files", "transfers", "mappings")
    assert found.missing == dict.fromkeys(parts, Missing.FORBIDDEN)
    assert (found.environment, found.open_files, found.transfers) == ((), None, None)
    assert found.command == ("python", "train.py")


def test_a_zombie_has_neither_command_line_nor_memory() -> None:
    held = proc(state="Z", command=b"")
    held.files["7/status"] = b"Name:\tx\nUid:\t1000\t0\t0\t0\n"
    found = look(held)

    assert found.state == "Z"
    assert found.missing["command"] is Missing.UNSUPPORTED
    assert found.missing["memory"] is Missing.UNSUPPORTED


def test_the_chain_of_parents_goes_up_to_init() -> None:
    held = proc(parent=5)
    held.add(5, name=b"bash [b]", parent=1)

    assert look(held).ancestors == (Ancestor(5, "bash [b]"), Ancestor(1, "init"))


def test_parents_that_go_in_a_circle_end() -> None:
    held = proc(parent=5)
    held.add(5, parent=7)

    assert len(look(held).ancestors) == 32


def test_another_process_of_the_same_pid_is_not_looked_at() -> None:
    found = look(proc(), start_ticks=4999)

    assert found.has_ended
    assert found.problem == "it has exited, and another process has its pid now"
    assert found.environment == ()


def test_a_pid_that_changes_hands_meanwhile_tells_nothing() -> None:
    class Recycled(FakeProc):
        def read(self, path: str) -> bytes:
            if path == "7/io":
                self.files["7/stat"] = stat_line(7, start=9999)
            return super().read(path)

    held = Recycled()
    held.add(7)
    found = look(held, start_ticks=5000)

    assert found.has_ended
    assert (found.command, found.user) == ((), None)


@pytest.mark.parametrize("error", [None, ESRCH])
def test_a_process_that_has_ended_is_said_to(error: OSError | None) -> None:
    held = FakeProc({"7/stat": error} if error else None)

    assert (look(held, start_ticks=5000).has_ended, look(held, start_ticks=5000).problem) == (True, "it has exited")
    assert look(held).problem == "no such process"


def test_a_process_that_was_seen_has_ended_also_where_proc_hides_others() -> None:
    assert look(FakeProc({"1/stat": EACCES}), start_ticks=5000).problem == "it has exited"


def test_where_proc_hides_processes_nobody_is_said_to_have_ended() -> None:
    found = look(FakeProc({"1/stat": EACCES}))

    assert not found.has_ended
    assert "hidepid" in found.problem


def test_a_limit_of_open_files_is_blamed_on_proc() -> None:
    found = look(FakeProc({"7/stat": OSError(errno.EMFILE, os.strerror(errno.EMFILE))}))

    assert not found.has_ended
    assert found.problem == "its stat in /proc cannot be read: Too many open files"


def test_a_real_child_is_told_as_it_is(tmp_path: Path) -> None:
    environment = os.environ | {"MY_API_KEY": "s3cret", "PLAIN": "x"}
    code = f"import os; os.chdir({str(tmp_path)!r}); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code, "a b"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = inspector_of_this_machine().inspect(
            Inspect(id="q", pid=process.pid, start_ticks=start_ticks(process.pid))
        )
        process.kill()

    assert (found.pid, found.problem) == (process.pid, "")
    assert found.command == (sys.executable, "-c", code, "a b")
    assert found.directory == str(tmp_path)
    assert found.executable == os.path.realpath(sys.executable)
    assert Variable("MY_API_KEY", None, is_secret=True) in found.environment
    assert Variable("PLAIN", "x") in found.environment
    assert found.ancestors[0].pid == os.getpid()
    assert found.open_files == len(found.files) >= 3
    assert found.memory is not None
    assert found.memory.resident_bytes > 1_000_000
    assert {limit.name for limit in found.limits} == {"open files", "locked memory", "processes"}
    assert any("libc" in mapping.path or "python" in mapping.path for mapping in found.mappings)
    assert found.missing == {}


def test_a_real_child_that_was_killed_has_ended() -> None:
    with child() as held:
        target = held.target
        held.process.kill()
        held.process.wait()
        found = inspector_of_this_machine().inspect(Inspect(id="q", pid=target.pid, start_ticks=target.start_ticks))

    assert found.command == ()
    assert found.problem


def test_a_process_that_unmaps_its_environment_is_said_to_have_none() -> None:
    with child(FAR, program=UNMAPPED) as held:
        found = inspector_of_this_machine().inspect(Inspect(id="q", pid=held.pid))

    assert not found.environment
    assert found.missing["environment"] is Missing.UNREADABLE
    assert found.owner.missing["run_id"] is Missing.UNREADABLE


def test_a_command_line_that_could_not_be_read_is_said_to_be_empty() -> None:
    held = proc(command=b"")
    held.files["7/stat"] = stat_line(7, memory="4096 4196 4196 8000")

    assert look(held).missing["command"] is Missing.UNREADABLE


@pytest.mark.parametrize("number", [errno.EIO, errno.EMFILE, errno.ENOMEM])
def test_an_environment_that_could_not_be_read_is_said_to_be_empty(number: int) -> None:
    held = proc()
    held.files["7/environ"] = OSError(number, os.strerror(number))
    found = look(held)
    text = next(part for part in sections(found) if part.key == "environment").rows[0].text

    assert text == Missing.UNREADABLE.text


@pytest.mark.parametrize("name", BOXES)
def test_every_process_of_a_simulated_box_can_be_looked_at(name: str) -> None:
    simulated = box(name)
    reader = Inspector(simulated.proc, simulated.users.get, clock_ticks=100)
    pids = [int(entry) for entry in simulated.proc.list("") if entry.isdecimal()]
    found = [reader.inspect(Inspect(id="q", pid=pid)) for pid in pids]

    assert all(each.problem == "" for each in found)
    assert any(each.devices and each.mappings and each.transfers for each in found)
