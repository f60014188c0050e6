"""--where: the filter language at the front door."""

import csv
import io
import json
import os
import subprocess
import sys
from typing import Any

import pytest

PATIENCE_S = 60  # only ever waited for when a test fails
GIB = 1024**3


def gputop(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "gputop", *arguments],
        capture_output=True, check=False, env=dict(os.environ), stdin=subprocess.DEVNULL, text=True, timeout=PATIENCE_S,
    )  # fmt: skip


def processes(*arguments: str) -> list[dict[str, Any]]:
    done = gputop("snapshot", "--demo", "--json", "--wait", "0", *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return list(json.loads(done.stdout)["processes"])


def test_only_processes_that_match_are_printed_and_all_gpus() -> None:
    done = gputop("snapshot", "--demo", "--json", "--wait", "0", "--where", "user:ann gpu_mem>10GiB")
    frame = json.loads(done.stdout)

    assert {process["user"] for process in frame["processes"]} == {"ann"}
    assert min(use["memory_bytes"] for process in frame["processes"] for use in process["gpus"]) > 10 * GIB
    assert len(frame["gpus"]) == 8


def test_what_matches_and_what_does_not_is_all_there_is() -> None:
    everybody, hers, others = processes(), processes("--where", "user:ann"), processes("--where", "not user:ann")

    assert 0 < len(hers) < len(everybody)
    assert sorted(process["pid"] for process in hers + others) == sorted(process["pid"] for process in everybody)


def test_of_a_process_on_several_gpus_the_uses_that_match_are_kept() -> None:
    uses = [use for process in processes("--where", "gpu:2") for use in process["gpus"]]

    assert {use["gpu_index"] for use in uses} == {2}


def test_several_filters_must_all_match() -> None:
    assert processes("--where", "user:ann", "--where", "not user:ann") == []


def test_tables_and_csv_are_filtered_too() -> None:
    table = gputop("snapshot", "--demo", "--wait", "0", "--where", "cmd~no-such-thing").stdout
    text = gputop("snapshot", "--demo", "--wait", "0", "--format", "csv-processes", "--where", "user:ann").stdout

    assert "train.py" not in table
    assert {row["user"] for row in csv.DictReader(io.StringIO(text))} == {"ann"}


def test_a_stream_is_filtered_frame_by_frame() -> None:
    lines = gputop("stream", "--demo", "--count", "2", "--interval", "0.1", "--where", "user:ann sm>=0").stdout
    frames = [json.loads(line) for line in lines.splitlines()]

    assert [{process["user"] for process in frame["processes"]} <= {"ann"} for frame in frames] == [True, True]


@pytest.mark.parametrize("arguments", [["snapshot"], ["stream", "--count", "1"], []])
def test_a_bad_filter_is_pointed_at_and_nothing_is_read(arguments: list[str]) -> None:
    done = gputop(*arguments, "--demo", "--where", "user:ann gpumem>5GiB")

    assert (done.returncode, done.stdout) == (2, "")
    first, *pointer = done.stderr.splitlines()
    assert first.startswith(
        "gputop: argument --where: column 10: unknown column gpumem (to search for text, quote it)."
    )
    assert first.split(". ", 1)[1].startswith("Did you mean gpu_mem? See: gputop")
    assert pointer == [
        "  user:ann gpumem>5GiB",
        "           ^",
    ]


def test_a_filter_that_steers_terminals_is_shown_harmlessly() -> None:
    assert "\x1b" not in gputop("snapshot", "--demo", "--where", "\x1b[2Jusr:ann sm<\x1b").stderr
