"""gputop on the driver that is there: what must hold on any box, real or simulated. Changes nothing."""

import json
from typing import Any

import jsonschema
import pytest
from commands import Run

from gputop.core.model.catalogue import CATALOGUE

STATIC = {"serial", "vbios_version", "architecture", "compute_capability", "cores", "multiprocessors"}


@pytest.fixture
def frame(run: Run) -> dict[str, Any]:
    """Return what a snapshot says."""
    done = run("snapshot", "--json", "--wait", "1")
    assert done.stderr == ""
    return dict(json.loads(done.stdout))


def test_a_snapshot_is_what_the_schema_promises(frame: dict[str, Any], run: Run) -> None:
    jsonschema.validate(frame, json.loads(run("schema").stdout))


def test_every_metric_of_every_gpu_has_a_value_or_a_reason(frame: dict[str, Any]) -> None:
    for gpu in frame["gpus"]:
        absent = {key for key, value in gpu["metrics"].items() if value is None}

        assert set(gpu["metrics"]) == {metric.key for metric in CATALOGUE}
        assert absent <= set(gpu["missing"]) <= absent | {"processes"}


def test_after_two_readings_nothing_is_only_not_yet_known(frame: dict[str, Any]) -> None:
    pending = {key for gpu in frame["gpus"] for key, why in gpu["missing"].items() if why == "not_yet"}

    assert pending == set()


def test_no_call_fails_on_a_healthy_box(frame: dict[str, Any]) -> None:
    faults = {key for gpu in frame["gpus"] for key, why in gpu["missing"].items() if why == "fault"}

    assert faults == set()


def test_gpus_are_told_apart(frame: dict[str, Any]) -> None:
    assert len({gpu["uuid"] for gpu in frame["gpus"]}) == len(frame["gpus"])
    assert [gpu["index"] for gpu in frame["gpus"]] == sorted(gpu["index"] for gpu in frame["gpus"])


def test_the_parts_of_the_memory_do_not_exceed_the_whole(frame: dict[str, Any]) -> None:
    for gpu in frame["gpus"]:
        held = {key: value for key, value in gpu["metrics"].items() if key.startswith("memory_") and value is not None}
        if "memory_total_bytes" in held:
            parts = sum(held.get(f"memory_{part}_bytes", 0) for part in ("used", "reserved", "free"))

            assert parts <= held["memory_total_bytes"] * 1.02


def test_a_gpu_can_be_selected_by_index_uuid_and_bus_id(frame: dict[str, Any], run: Run) -> None:
    for gpu in frame["gpus"][-1:]:
        for name in (str(gpu["index"]), gpu["uuid"], gpu["bus_id"]):
            chosen = json.loads(run("snapshot", "--json", "--wait", "0", "-i", name).stdout)

            assert [g["uuid"] for g in chosen["gpus"]] == [gpu["uuid"]]


def test_static_facts_do_not_change_between_frames(run: Run) -> None:
    lines = run("stream", "--count", "3", "--interval", "0.2").stdout.splitlines()
    facts = [[{key: gpu["metrics"][key] for key in STATIC} for gpu in json.loads(line)["gpus"]] for line in lines]

    assert facts[0] == facts[1] == facts[2]
