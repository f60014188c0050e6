"""Every number of a real board's `nvidia-smi` dump is gputop's number, and what the dump has not is absent.

A dump becomes a scenario of the simulated driver by `smi_to_scn.py`, which lies beside `mockbox.py`: without them the
tests are skipped. `dumps.py` reads the dump a second time, knowing neither the driver nor gputop.
"""

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from real.dumps import Dump, Value, dumps
from real_terminal import GPUTOP, terminal

pytestmark = pytest.mark.skipif("NVML_MOCK_BOX" not in os.environ, reason="needs a driver that plays a dump")

# nvidia-smi rounds to its own digits: MiB, hundredths of a watt
TOLERANCE = {"bytes": 1024.0**2, "w": 0.011}


@pytest.fixture(params=dumps(), ids=lambda dump: dump.name)
def dump(request: pytest.FixtureRequest) -> Dump:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def scenario(dump: Dump, tmp_path: Path) -> dict[str, str]:
    """Return the environment of a simulated driver that plays the dump."""
    plain, played = tmp_path / dump.path.name.removesuffix(".xz"), tmp_path / "box.scn"
    plain.write_text(dump.text())
    converter = Path(os.environ["NVML_MOCK_BOX"]).with_name("smi_to_scn.py")
    with played.open("w") as file:
        command = [sys.executable, str(converter), str(plain), "--state", dump.state]
        subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, check=True, timeout=60)
    return {"NVML_MOCK_SCENARIO": str(played), "NVML_MOCK_STATE": str(tmp_path / "state")}


@pytest.fixture
def gputop(scenario: dict[str, str]) -> "Callable[..., subprocess.CompletedProcess[str]]":
    """Run gputop on the simulated driver that plays the dump."""
    environment = os.environ | scenario

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "gputop", *arguments]
        return subprocess.run(
            command, capture_output=True, check=False, env=environment, stdin=subprocess.DEVNULL, text=True, timeout=120
        )

    return run


def _said(row: dict[str, Value]) -> dict[str, Value]:
    """Return what gputop must show: boards without a mean of the power have the instantaneous value in its place."""
    has_mean = row.get("power_average_w", row.get("power_instant_w")) is not None
    return row if has_mean or "power_instant_w" not in row else row | {"power_average_w": row["power_instant_w"]}


def _equal(key: str, said: Value, shown: Value) -> bool:
    if isinstance(said, float) and isinstance(shown, float | int):
        return abs(said - shown) <= TOLERANCE.get(key.rsplit("_", 1)[-1], 0.0)
    return said == shown


def test_each_number_of_the_dump_is_shown_and_no_other(dump: Dump, gputop: "Callable[..., Any]") -> None:
    done = gputop("snapshot", "--json")
    assert done.returncode == 0, done.stderr
    gpus = json.loads(done.stdout)["gpus"]
    shown = [gpu["metrics"] for gpu in gpus]
    said = dump.gpus()
    assert len(shown) == len(said)
    wrong = [
        (gpu, key, value, metrics[key])
        for gpu, (row, metrics) in enumerate(zip(said, shown, strict=True))
        for key, value in _said(row).items()
        if not _equal(key, value, metrics[key])
    ]
    assert wrong == []
    assert all(gpu["missing"].keys() == {key for key, value in gpu["metrics"].items() if value is None} for gpu in gpus)


EXPORTED = {  # series of the exporter: key of the dump, and how much of the series one unit of the dump is
    "gputop_gpu_utilization_ratio": ("gpu_utilization_percent", 0.01),
    "gputop_gpu_memory_total_bytes": ("memory_total_bytes", 1),
    "gputop_gpu_memory_used_bytes": ("memory_used_bytes", 1),
    "gputop_gpu_temperature_celsius": ("temperature_c", 1),
    "gputop_gpu_fan_speed_ratio": ("fan_percent", 0.01),
    "gputop_gpu_power_limit_watts": ("power_limit_w", 1),
    "gputop_gpu_sm_clock_hertz": ("clock_sm_hz", 1),
}  # fmt: skip


def test_the_exporter_serves_each_number_of_the_dump_and_no_other(dump: Dump, gputop: "Callable[..., Any]") -> None:
    done = gputop("snapshot", "--format", "prometheus")
    assert done.returncode == 0, done.stderr
    shown = {
        (sample.name, int(sample.labels["gpu"])): sample.value
        for family in text_string_to_metric_families(done.stdout)
        for sample in family.samples
        if sample.name in EXPORTED
    }
    said = {
        (name, gpu): value * scale
        for gpu, row in enumerate(dump.gpus())
        for name, (key, scale) in EXPORTED.items()
        if isinstance(value := row.get(key), int | float)
    }
    not_said = {
        (name, gpu) for gpu, row in enumerate(dump.gpus()) for name, (key, _) in EXPORTED.items() if key not in row
    }

    assert shown.keys() - not_said == said.keys() - not_said
    assert [key for key in said if abs(shown[key] - said[key]) > (1024.0**2 if "bytes" in key[0] else 0.011)] == []


# What an operator reads in a dump: checks with a warning or a fault, of those that ask the driver alone.
TROUBLE = {"k8sinfra-b200": {"persistence"}, "nvidia-l40s": {"persistence"}}
OF_THE_DRIVER = {
    "compute.mode", "ecc.errors", "ecc.off", "ecc.pending", "fabric.manager", "gpu.answers", "mig.empty", "nvlink.down",
    "pcie.link", "persistence", "power.limit", "recovery.action", "remap.failure", "remap.histogram", "remap.pending",
    "repair.pending", "retired", "throttle.hw", "throttle.sw",
}  # fmt: skip


def test_the_doctor_says_what_an_operator_reads_in_the_dump(dump: Dump, gputop: "Callable[..., Any]") -> None:
    done = gputop("doctor", "--json")
    checks = json.loads(done.stdout)["checks"]
    codes = {check["code"] for check in checks}
    found = {check["code"] for check in checks if check["severity"] in {"fail", "warn"}}

    assert codes >= OF_THE_DRIVER
    assert found & OF_THE_DRIVER == TROUBLE.get(dump.name.partition("__")[0], set())


@pytest.mark.parametrize("dump", [one for one in dumps() if one.is_xml], ids=lambda dump: dump.name, indirect=True)
def test_the_screen_shows_each_board_of_the_dump(dump: Dump, scenario: dict[str, str]) -> None:
    brand = ET.fromstring(dump.text()).findtext("gpu/product_name", "")  # noqa: S314
    name = brand.removeprefix("NVIDIA ").removeprefix("Tesla ")
    with terminal(*GPUTOP, environment=os.environ | scenario, size=(200, 60)) as shown:
        shown.until_so(lambda: sum(line.count(name) for line in shown.lines) == len(dump.gpus()), "a board is missing")
        shown.press("q")

        assert shown.end() == 0
