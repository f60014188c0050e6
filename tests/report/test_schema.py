"""The schema that `gputop schema` prints: real frames are valid, wrong ones are not, and every metric is described."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from examples import frame, gpu, process
from jsonschema import Draft202012Validator

from gputop.core.model.catalogue import CATALOGUE, EVENT_REASONS, FAN, MIG_MODE, POWER_AVERAGE, SERIAL
from gputop.core.model.metric import Missing
from gputop.core.model.owner import Container, Owner, Pod, SlurmStep
from gputop.core.model.sample import DriverInfo, Frame, GpuInstance, GpuState, Job, JobKind, Presence, XidEvent
from gputop.report.schema import schema

SCHEMA = schema()
VALIDATOR = Draft202012Validator(SCHEMA)

OWNER = Owner(
    container=Container(runtime="crio", id="a" * 64), pod=Pod(uid="u", name="bert-0"), slurm=SlurmStep(job="7"), rank=0,
    missing={"session": Missing.FORBIDDEN},
)  # fmt: skip
FRAMES = {
    "usual": frame(),
    "bare": frame(0, driver=DriverInfo()),
    "owners and jobs": frame(
        processes=(process(5, owner=OWNER),),
        relatives=(process(6, gpus=()),),
        jobs=(Job(key="pod:u", kind=JobKind.POD, label="bert-0", launcher=process(6).id, members=(process(5).id,)),),
    ),
    "many kinds of values": frame(
        gpus=(
            gpu(
                0, {SERIAL: "16", EVENT_REASONS: ("idle",), MIG_MODE: True, FAN: 130, POWER_AVERAGE: Missing.FORBIDDEN}
            ),
            gpu(1, state=GpuState.LOST, read_s=None, metrics={}, xids=(XidEvent(time_s=1.5, xid=79),)),
            gpu(2, instances=(GpuInstance(id=1, profile="3g.40gb", metrics={"sm_active_percent": None}),)),
        ),
        processes=(process(presence=Presence.GONE, user=None, missing={"user": Missing.HIDDEN}),),
    ),
}


def as_json(value: Frame) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def test_it_is_a_schema_of_2020_12() -> None:
    Draft202012Validator.check_schema(SCHEMA)

    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_as_it_leaves_gputop_is_valid(name: str) -> None:
    assert list(VALIDATOR.iter_errors(as_json(FRAMES[name]))) == []


def test_an_owner_has_only_the_keys_that_say_something() -> None:
    owner = as_json(FRAMES["owners and jobs"])["processes"][0]["owner"]
    required = [SCHEMA["$defs"][name].get("required", []) for name in ("Owner", "Container", "Pod", "SlurmStep")]

    assert owner == {
        "container": {"runtime": "crio", "id": "a" * 64},
        "pod": {"uid": "u", "name": "bert-0"},
        "slurm": {"job": "7"},
        "rank": 0,
        "missing": {"session": "forbidden"},
    }
    assert required == [[], ["runtime"], ["uid"], []]


def _text_for_a_number(data: Any) -> None:
    data["gpus"][0]["metrics"]["temperature_c"] = "hot"


def _more_than_all(data: Any) -> None:
    data["gpus"][0]["metrics"]["gpu_utilization_percent"] = 101


def _a_fraction_of_a_byte(data: Any) -> None:
    data["gpus"][0]["metrics"]["memory_used_bytes"] = 0.5


def _an_unknown_reason(data: Any) -> None:
    data["gpus"][0]["missing"] = {"temperature_c": "whim"}


def _no_time(data: Any) -> None:
    del data["time_s"]


def _a_pid_in_words(data: Any) -> None:
    data["processes"][0]["pid"] = "one"


@pytest.mark.parametrize(
    "spoil",
    [_text_for_a_number, _more_than_all, _a_fraction_of_a_byte, _an_unknown_reason, _no_time, _a_pid_in_words],
)
def test_a_wrong_frame_is_not_valid(spoil: Callable[[Any], None]) -> None:
    data = as_json(frame())
    spoil(data)

    assert not VALIDATOR.is_valid(data)


def test_what_a_newer_gputop_adds_is_valid() -> None:
    data = as_json(frame())
    data["weather"] = "fine"
    data["gpus"][0]["metrics"]["new_metric_w"] = 1.5

    assert VALIDATOR.is_valid(data)


@pytest.mark.parametrize("metric", CATALOGUE, ids=lambda metric: metric.key)
def test_every_metric_is_described_and_may_be_null(metric: Any) -> None:
    row = SCHEMA["$defs"]["Metrics"]["properties"][metric.key]

    assert row["title"] == metric.label
    assert row["description"]
    assert "null" in row["type"]


def test_a_metric_has_its_unit_type_and_range() -> None:
    row = SCHEMA["$defs"]["Metrics"]["properties"][FAN.key]

    assert (row["type"], row["unit"], row["minimum"], row["maximum"]) == (["integer", "null"], "%", 0, 200)
