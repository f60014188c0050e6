"""Whatever stands in files, requests and logs of others: it is read, or refused with a reason; nothing crashes."""

import os
import pathlib
import tempfile
from contextlib import suppress

import pytest
from fake_proc import FakeProc, stat_line
from hypothesis import given
from hypothesis import strategies as st
from mig_boards import BOARDS, board

from gputop.core.doctor.kernel_log import LogLine, hung_tasks, is_relevant, same_bus, xid_lines
from gputop.core.mig import mig_parted
from gputop.core.mig import request as mig_request
from gputop.core.model.sample import GpuProcess
from gputop.core.processes.cgroup import parse_cgroup
from gputop.core.processes.environ import parse_environ
from gputop.core.processes.program import arguments_of, program
from gputop.core.text.text import is_clean
from gputop.machine.proc.host import HostReader
from gputop.machine.processes.progress import ProgressReader, Reporter
from gputop.machine.processes.reader import ProcessReader
from gputop.wire import codec

USE = GpuProcess(gpu="GPU-0", gpu_index=0, type="C")
LONG = "9" * 5000
NUMBERS = st.sampled_from(["0", "-1", "7", str(2**64), "1e999", "nan", "inf", LONG, "", "x", "٣", "1_0"])


def of(*words: str) -> st.SearchStrategy[str]:
    """Return texts out of these words, numbers of all kinds and anything else."""
    return st.lists(st.sampled_from(words) | NUMBERS | st.text(max_size=4), max_size=14).map("".join)


@given(
    of("0::/", "/", "\n", "slurm", "job_", "step_", "uid_", "kubepods", ".slice", "pod", "docker-", ".scope", "user@",
       "cri-containerd-", "a" * 64, "lxc.payload.", "jupyter-", ":", "system.slice", "..", "-besteffort-", "_")
)  # fmt: skip
def test_cgroups(text: str) -> None:
    assert repr(parse_cgroup(text)).isprintable()


@given(
    st.binary(max_size=300) | of("RANK=", "\0", "WORLD_SIZE=", "CUDA_VISIBLE_DEVICES=", "=").map(lambda t: t.encode())
)
def test_environments(raw: bytes) -> None:
    assert all(is_clean(value) and len(value) <= 512 for value in parse_environ(raw).values())


@given(of("NVRM: Xid (PCI:0000:3b:00): ", "79, ", "pid=", "'", "name=", "GPU ", " fallen off the bus", ":", ".",
          "0000", "NVRM: GPU at PCI:", "INFO: task python:", " blocked for more than ", " seconds", ", ", "(", ")")
)  # fmt: skip
def test_kernel_logs(text: str) -> None:
    lines = [LogLine(None, text), LogLine(1.0, f"NVRM: Xid (PCI:0000:3b:00): {text}")]
    list(xid_lines(lines))
    list(hung_tasks([*lines, LogLine(2.0, f"INFO: task python:{text} blocked for more than {text} seconds")]))
    is_relevant(text)
    same_bus(text)


@given(
    of(
        "1g.10gb",
        "3g.40gb",
        "2x",
        ",",
        "+",
        "-",
        "/",
        "1c",
        "@",
        "*",
        "all=",
        "all",
        "none",
        "on",
        "off",
        "g",
        ".",
        " ",
    )
)
def test_mig_requests(text: str) -> None:
    with suppress(mig_request.RequestError):
        mig_request.read_request(text, board(BOARDS["H100"]))
    with suppress(mig_request.RequestError):
        mig_request.read_request(text, board(BOARDS["A30"]))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.dates() | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6) | st.integers(), inner, max_size=3),
    max_leaves=8,
)
SPECS = st.fixed_dictionaries(
    {"devices": st.just("all") | st.lists(st.integers(-1, 3), max_size=2) | VALUES,
     "mig-enabled": st.booleans() | VALUES},
    optional={"mig-devices": st.dictionaries(of("1g.10gb", "+me"), st.integers(-1, 9), max_size=2) | VALUES,
              "device-filter": VALUES},
)  # fmt: skip


@given(VALUES | st.fixed_dictionaries({"version": st.just("v1") | VALUES, "mig-configs": st.dictionaries(
    st.text(max_size=3), st.lists(SPECS, max_size=2) | VALUES, max_size=2)}))  # fmt: skip
def test_files_of_mig_parted(raw: object) -> None:
    with suppress(mig_parted.ConfigError):
        held = mig_parted.read_config(raw)
        for name in held.mig_configs:
            mig_parted.requests(held, name, [board(BOARDS["H100"])])


@given(st.text(max_size=60) | of("python", " -m ", "torchrun", " ", "-u", "/", "--", ".py", "\0", "'", '"', "="))
def test_command_lines(text: str) -> None:
    program(arguments_of(text))


PROC = ("stat", "uptime", "loadavg", "meminfo", "pressure/cpu", "pressure/memory", "pressure/io")
LINES = st.binary(max_size=80) | of(
    "cpu ", "cpu0 ", " ", "\n", "btime ", "MemTotal:", " kB", "some avg10=", "SwapFree:", ".", "-"
).map(lambda text: text.encode())


@given(st.dictionaries(st.sampled_from(PROC), LINES), st.dictionaries(st.sampled_from(PROC), LINES))
def test_the_host_s_files(before: dict[str, bytes], after: dict[str, bytes]) -> None:
    proc = FakeProc(before)
    reader = HostReader(proc, "node")
    reader.read(0.0)
    proc.files |= after
    host = reader.read(1.0)

    assert host.cpu_percent is None or 0 <= host.cpu_percent <= 100


FILES = ("stat", "status", "cmdline", "cgroup", "environ", "comm", "statm", "task/7/children", "task/7/stat", "sched")


@given(st.dictionaries(st.sampled_from(FILES), st.binary(max_size=60) | NUMBERS.map(lambda n: f"7 (x) S {n}".encode())))
def test_the_files_of_a_process(files: dict[str, bytes]) -> None:
    proc = FakeProc({f"7/{name}": raw for name, raw in files.items()})
    reader = ProcessReader(proc, lambda _: "ann")
    for second in range(3):
        (one,) = reader.read({7: (USE,)}, float(second))
        reader.relatives([one], float(second))
        proc.files["7/stat"] = files.get("stat", stat_line(7))

    assert one.pid == 7


REPORTS = st.binary(max_size=100) | of(
    '{"step":', '"total":', '"loss":', "}", "[", ",", "[" * 4000, '{"a":' * 2000, "true", "null", '"'
).map(lambda text: text.encode())


@given(REPORTS)
def test_progress_reports(raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "7-500.json"
        path.write_bytes(raw)
        os.utime(path, (1000, 1000))
        reader = ProgressReader(lambda: 1000.0, {}, lambda _: [folder])
        reader.read_new([os.geteuid()], 0.0)
        reader.of(Reporter(pid=7, start_ticks=500, started_s=1.0, uid=os.geteuid()))


@pytest.mark.parametrize("raw", ['{"a":' + "[" * 4000, "[" * 4000, '{"a":' * 800])
def test_a_report_that_is_nested_without_end_does_not_end_the_reading_of_all_processes(
    tmp_path: pathlib.Path, raw: str
) -> None:
    path = tmp_path / "7-500.json"
    path.write_text(raw)
    os.utime(path, (1000, 1000))
    reader = ProgressReader(lambda: 1000.0, {}, lambda _: [str(tmp_path)])
    reader.read_new([os.geteuid()], 0.0)

    assert reader.of(Reporter(pid=7, start_ticks=500, started_s=1.0, uid=os.geteuid())) is None


@pytest.mark.parametrize("raw", ["[" * 100_000, '{"a":' * 100_000, '{"time_s":' + LONG + "}", '{"gpus":[' * 9999])
def test_lines_without_end_are_problems(raw: str) -> None:
    assert isinstance(codec.answer(raw.encode()), codec.Problem)
    assert not hasattr(codec.answer(b'{"time_s": 1e999}'), "gpus")
