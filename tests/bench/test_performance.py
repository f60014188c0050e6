"""The command that measures everything, and the tables that are made of it."""

import os
from pathlib import Path
from typing import Any

import generate_performance as tables
import pytest
from boxes import Plan
from performance import plans, version


def box(label: str, ours_ms: float, theirs_ms: float) -> dict[str, Any]:
    rows = [["once", "CPU ms"], ["gputop", str(ours_ms)], ["nvitop", str(theirs_ms)]]
    return {
        "label": label,
        "gpus": ["H100"],
        "snapshot": {"gputop": {"cpu_ms": ours_ms, "status": 0}, "nvitop": {"cpu_ms": theirs_ms, "status": 0}},
        "tables": {"snapshot": {"title": "Snapshot", "rows": rows}},
    }


def result(*boxes: dict[str, Any], load: float = 0.0, exponent: float = 0.4) -> dict[str, Any]:
    point = {"at": "2,000", "amount": 2000, "cost": 4.0, "pss_bytes": None}
    return {
        "machine": {
            "cpu": "a CPU", "cores": 2, "load": load, "linux": "6", "python": "3.12", "date": "2026-01-02",
            "minutes": 13, "programs": {"gputop": "0.1"},
        },
        "boxes": list(boxes),
        "growth": [
            {"what": "detectors and history: processes", "unit": "ms", "points": [point], "exponent": exponent}
        ],
    }  # fmt: skip


def test_every_size_is_measured_with_a_quick_and_a_slow_driver() -> None:
    planned = plans("box")

    assert {(p.gpus, p.processes) for p in planned if p and p.driver == "zero"} == {
        (1, 5),
        (8, 60),
        (8, 200),
        (16, 2000),
    }
    assert len(planned) == 8
    assert plans(None) == [None]


def test_a_program_is_asked_for_its_version(tmp_path: Path) -> None:
    program = tmp_path / "peer"
    program.write_text("#!/bin/sh\necho peer version: 1.7.2 of today\n")
    program.chmod(0o755)

    assert version(os.fspath(program)) == "1.7.2"


def test_the_worst_box_counts_for_a_budget() -> None:
    text = tables.budgets(result(box("8 x 60", 40, 100), box("8 x 60, twice", 60, 100)))

    assert "| snapshot: CPU time ÷ `nvitop -1`, 8 x 60 | 0.45 | 0.60 | 8 x 60, twice | **missed by 33%** |" in text
    assert "| 4.00 ms per frame | detectors only | met |" in text


def test_boxes_with_a_slow_driver_are_told_beside_the_others() -> None:
    text = tables.budgets(result(box("8 x 60", 40, 100), box(Plan(8, 60, "realistic").label, 60, 100)))

    assert "| 0.40 | 8 x 60 | met | 0.60 | 8 x 60 | **missed by 33%** |" in text


def test_a_program_that_failed_is_not_compared_with() -> None:
    failed = box("8 x 60", 60, 100)
    failed["snapshot"]["nvitop"]["status"] = 1

    assert "nvitop" not in tables.budgets(result(failed))


def test_boxes_stand_in_one_table_a_part() -> None:
    text = tables.measurements(result(box("1 x 5", 40, 100), box("8 x 60", 60, 100)))

    assert text.count("### Snapshot") == 1
    assert "| 1 x 5 | gputop | 40 |\n|  | nvitop | 100 |\n| 8 x 60 | gputop | 60 |" in text


@pytest.mark.parametrize(("load", "said"), [(0.1, False), (9.0, True)])
def test_a_busy_machine_is_said(load: float, said: bool) -> None:  # noqa: FBT001
    assert ("busy" in tables.budgets(result(load=load))) is said


@pytest.mark.parametrize(
    ("exponent", "said"), [(0.9, "Nothing grew"), (1.6, "Faster than linear over the last step: det")]
)
def test_what_grows_faster_than_linear_is_named(exponent: float, said: str) -> None:
    assert said in tables.growth(result(exponent=exponent))


def test_plans_are_labelled_for_tables() -> None:
    assert Plan(16, 2000).label == "16 x 2,000"
