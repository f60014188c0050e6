"""Comma-separated values, as a spreadsheet or a script reads them."""

import csv as standard
from typing import Literal

import pytest
from examples import GIB, frame, gpu, process

from gputop.core.model.catalogue import ECC_ENABLED, EVENT_REASONS, MEMORY_USED, MEMORY_UTILIZATION, POWER_AVERAGE
from gputop.core.model.metric import Missing
from gputop.core.model.owner import Container, Owner, SlurmStep
from gputop.core.model.sample import Frame, GpuInstance, GpuProcess
from gputop.report.csv import csv


def read(of: Frame, what: Literal["gpus", "processes"] = "gpus") -> list[dict[str, str]]:
    return list(standard.DictReader(csv(of, what).splitlines()))


def test_a_gpu_is_a_row_under_the_keys_of_the_json() -> None:
    first, second = read(frame(gpus=(gpu(0), gpu(1, {EVENT_REASONS: ("power cap", "idle"), ECC_ENABLED: True}))))

    assert (first["index"], first["temperature_c"], first["memory_used_bytes"]) == ("0", "60", str(40 * GIB))
    assert (second["clocks_event_reasons"], second["ecc_enabled"]) == ("power cap; idle", "true")


def test_what_is_missing_is_empty_and_never_zero() -> None:
    (row,) = read(frame(gpus=(gpu(0, {POWER_AVERAGE: Missing.FORBIDDEN}),)))

    assert row["power_average_w"] == ""


def test_a_mig_instance_is_a_row_after_its_gpu() -> None:
    instance = GpuInstance(id=3, profile="1g.10gb", metrics={MEMORY_USED.key: 7})
    whole, part = read(frame(gpus=(gpu(4, instances=(instance,)),)))

    assert (whole["index"], whole["gpu_instance"]) == ("4", "")
    assert (part["index"], part["gpu_instance"], part["profile"], part["memory_used_bytes"]) == (
        "4", "3", "1g.10gb", "7",
    )  # fmt: skip


def test_a_process_is_a_row_for_each_of_its_gpus_with_both_memories() -> None:
    rows = read(frame(2, processes=(process(50, 0, 1),)), "processes")

    assert [(row["pid"], row["gpu_index"]) for row in rows] == [("50", "0"), ("50", "1")]
    assert (rows[0]["memory_bytes"], rows[0]["gpu_memory_bytes"]) == (str(3 * GIB), str(10 * GIB))


def test_memory_utilization_of_a_process_has_the_name_that_it_has_for_a_gpu() -> None:
    use = GpuProcess(gpu="GPU-0", gpu_index=0, type="C", memory_utilization_percent=12.5)
    (row,) = read(frame(processes=(process(50, gpus=(use,)),)), "processes")

    assert row[MEMORY_UTILIZATION.key] == "12.5"
    assert "gpu_memory_percent" not in row  # the share of the memory that is held, a column of the table


@pytest.mark.parametrize("what", ["gpus", "processes"])
def test_no_key_stands_twice(what: Literal["gpus", "processes"]) -> None:
    keys = next(standard.reader(csv(frame(), what).splitlines()))

    assert len(set(keys)) == len(keys)


def test_quotes_commas_and_wide_characters_survive() -> None:
    command = 'python "a, b" 学習.py'
    (row,) = read(frame(1, processes=(process(command=command),)), "processes")

    assert row["command"] == command


def test_a_formula_is_made_harmless_and_a_negative_number_is_left_alone() -> None:
    texts = ["=1+1", "+1", "-bash", "@SUM(A1)", "sh -c =1"]
    rows = read(frame(processes=tuple(process(command=text, nice=-5) for text in texts)), "processes")

    assert [row["command"] for row in rows] == ["'=1+1", "'+1", "'-bash", "'@SUM(A1)", "sh -c =1"]
    assert {row["nice"] for row in rows} == {"-5"}


def test_a_command_cannot_break_the_row_or_steer_a_terminal() -> None:
    text = csv(frame(processes=(process(command="a\nb\r\x1b[2J"),)), "processes")

    assert len(text.splitlines()) == 2
    assert "\x1b" not in text


def test_every_row_is_as_long_as_the_header() -> None:
    instance = GpuInstance(id=0, profile="1g.10gb")
    held = frame(gpus=(gpu(0, instances=(instance,)), gpu(1)))
    rows = list(standard.reader(csv(held).splitlines()))

    assert len(rows) == 4
    assert len({len(row) for row in rows}) == 1


def test_the_owner_is_spread_over_fields_of_its_own() -> None:
    owner = Owner(container=Container(runtime="docker", id="a" * 64), slurm=SlurmStep(job="7", step="0"), rank=3)
    known, bare = read(frame(processes=(process(1, owner=owner), process(2))), "processes")

    assert (known["container"], known["slurm"], known["rank"], known["unit"]) == ("a" * 64, "7.0", "3", "")
    assert (bare["container"], bare["slurm"], bare["rank"]) == ("", "", "")


def test_a_name_that_a_process_only_claims_looks_like_a_proven_one() -> None:
    held = Owner(container=Container(runtime="docker", id="a" * 64), slurm=SlurmStep(job="7"), trusted=("slurm",))
    (row,) = read(frame(processes=(process(50, owner=held),)), "processes")

    assert row["trusted"] == "slurm"
