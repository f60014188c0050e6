"""Real processes whose names, arguments and environment are hostile: harmless and aligned in every headless format."""

import csv as standard
import json
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator
from contextlib import ExitStack
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from children import control, settle
from fake_driver import FakeFunctions

from gputop.core.inspection.text import lines
from gputop.core.model.sample import Frame
from gputop.core.monitor import Monitor
from gputop.core.protocol.command import Inspect, SendSignal
from gputop.core.protocol.targets import targets
from gputop.core.text.cells import width
from gputop.machine.inspect.inspector import Inspector
from gputop.machine.nvml.driver import Driver
from gputop.machine.proc.host import HostReader
from gputop.machine.proc.procfs import RealProc
from gputop.machine.processes.reader import ProcessReader, resolve_user
from gputop.machine.source import Limits, MachineSource
from gputop.report.change import ended, plan
from gputop.report.csv import csv
from gputop.report.grid import Style
from gputop.report.table import table
from gputop.wire.encoder import encode

COMMANDS = (
    ["\x1b]0;PWNED\x07\x1b[2J", "\x1b[31mred\r\x08", "one\ntwo\u2028three"],
    ["学習プロセス", "ｗｉｄｅ", "🎉"],
    ["e\u0301\u0301", "\u202ertl\u2066", "zero\u200bwidth", "\ue000"],
    ["[bold red]markup[/]", "[link=file:///etc/passwd]x[/link]", "[/]"],
    ["=cmd|'/C calc'!A0"],
    ["+1+1"],
    ["-rf"],
    ["@SUM(A1)"],
    ["\t=1+1"],
    ['"quoted', "comma, and ; semicolon"],
    [b"\xff\xfe\x80 not text"],
)
ENVIRONMENT = {
    "VIRTUAL_ENV": "/home/\x1b[31mann/=venv\n", "CONDA_DEFAULT_ENV": "+env\x07", "TMUX": "/run/\x1b,1,0",
    "SLURM_JOB_ID": "=1+1\x1b", "TORCHELASTIC_RUN_ID": "\u202erun", "\x1bNAME": "x", "A_TOKEN": "\x1bsecret",
}  # fmt: skip


WAITS = "read line"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Frame]:
    """Give a frame of real processes; they live as long as the tests."""
    program = tmp_path_factory.mktemp("programs") / "\x1b]0;e\nvil\x07"
    program.symlink_to(shutil.which("sh") or "/bin/sh")
    with ExitStack() as stack:
        crowd = []
        for name, *arguments in COMMANDS:
            started = subprocess.Popen(
                [name, "-c", WAITS, "sh", *arguments], executable=program, env=ENVIRONMENT, stdin=subprocess.PIPE
            )
            crowd.append(stack.enter_context(started))
            stack.callback(started.kill)
        settle(*(each.pid for each in crowd))
        yield frame_of(crowd)


def frame_of(crowd: list["subprocess.Popen[bytes]"]) -> Frame:
    proc = RealProc()
    listed = [(each.pid, 2**30, None, None) for each in crowd]
    driver = FakeFunctions(nvmlDeviceGetComputeRunningProcesses=listed, nvmlDeviceGetName="\x1b[2JH100\n=1+1")
    reader = ProcessReader(proc, resolve_user)
    source = MachineSource(Driver(driver), HostReader(proc, "node\x1b7"), reader, limits=Limits(patience_s=30.0))
    source.open()
    return Monitor(source).step()


def harmless(text: str) -> bool:
    """Say whether nothing in a text steers a terminal: no controls, nothing invisible, no other direction."""
    return not any(unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} for sign in text)


def strings(value: Any) -> Iterator[str]:
    """Give all strings in what JSON says, keys too."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)
    elif isinstance(value, str):
        yield value


def test_the_processes_are_those(shown: Frame) -> None:
    assert len(shown.processes) == len(COMMANDS)
    assert any("PWNED" in process.command for process in shown.processes)
    assert {process.owner.environment for process in shown.processes} != {None}


def test_the_table_is_a_line_each_and_its_columns_are_aligned(shown: Frame) -> None:
    printed = table(shown, None, Style.PLAIN).split("\n")
    head = next(n for n, line in enumerate(printed) if line.startswith("GPU ") and "COMMAND" in line)
    rows = printed[head + 1 : head + 1 + len(COMMANDS)]
    start = width(printed[head].partition("COMMAND")[0])

    assert all(harmless(line) for line in printed)
    assert sorted(after(row, start) for row in rows) == sorted(process.command for process in shown.processes)


def after(text: str, cells: int) -> str:
    """Return what stands behind so many cells."""
    for n in range(len(text)):
        if width(text[:n]) == cells:
            return text[n:]
    return ""


def test_in_colour_only_the_colours_are_controls(shown: Frame) -> None:
    printed = table(shown, 100, Style.COLOUR)
    for code in ("2", "33", "1;31", "0"):
        printed = printed.replace(f"\x1b[{code}m", "")

    assert all(harmless(line) and width(line) <= 100 for line in printed.split("\n"))


def test_json_holds_no_control_even_after_it_is_read(shown: Frame) -> None:
    raw = encode(shown)

    assert raw.count(b"\n") == 1
    assert all(map(harmless, strings(json.loads(raw))))


@pytest.mark.parametrize("what", ["gpus", "processes"])
def test_csv_is_a_row_each_and_no_field_is_a_formula(shown: Frame, what: Any) -> None:
    text = csv(shown, what)
    rows = list(standard.reader(StringIO(text)))

    assert all(map(harmless, text.split("\n")))
    assert len(rows) == 1 + (len(COMMANDS) if what == "processes" else 1)
    assert not [field for row in rows for field in row if field.startswith(("=", "+", "@", "\t", "\r"))]
    assert not [field for row in rows for field in row if field.startswith("-") and not is_number(field)]


def is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def test_a_list_of_targets_is_a_line_each_and_so_is_how_it_ended(shown: Frame, tmp_path: Path) -> None:
    change = SendSignal(id="a\x1b", signal="SIGURG", targets=targets(shown.processes))
    before = plan("SIGURG", shown.processes, shown.time_s, None, Style.PLAIN)
    outcome = control(tmp_path).execute(change)
    told = list(ended(outcome, Style.PLAIN))
    log = (tmp_path / "state/audit.jsonl").read_bytes().splitlines()

    assert outcome.all_worked
    assert all(map(harmless, [*before, *told]))
    assert (len(before), len(told)) == (2 + len(COMMANDS), len(COMMANDS) + 1)
    assert len(log) == 2 * len(COMMANDS)
    assert all(harmless(text) for line in log for text in strings(json.loads(line)))


def test_an_inspection_is_harmless_in_words_and_in_json(shown: Frame) -> None:
    reader = Inspector(RealProc(), resolve_user)
    for process in shown.processes:
        found = reader.inspect(Inspect(id="", pid=process.pid, reveal=True))

        assert all(map(harmless, lines(found)))
        assert all(map(harmless, strings(json.loads(encode(found)))))
        assert found.environment
