"""gputop export on a simulated driver: eight GPUs, MIG, a lost GPU, a consumer board."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from exported_boxes import Box, box
from exporters import PATIENCE_S, exporting
from expositions import Read, promtool, read
from other_users import OTHER, directory_of_other, needs_root, python_of_other

from gputop.app.exporting.state import load

pytestmark = pytest.mark.skipif("NVML_MOCK_BOX" not in os.environ, reason="needs a driver that can be told to fall ill")

DATACENTRE = {
    "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_MEM_CLOCK", "DCGM_FI_DEV_MEMORY_TEMP", "DCGM_FI_DEV_GPU_TEMP",
    "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
    "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL", "DCGM_FI_DEV_ENC_UTIL", "DCGM_FI_DEV_DEC_UTIL",
    "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_RESERVED",
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", "DCGM_FI_DEV_ROW_REMAP_FAILURE", "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_PROF_DRAM_ACTIVE", "DCGM_FI_PROF_PCIE_TX_BYTES",
    "DCGM_FI_PROF_PCIE_RX_BYTES",
}  # fmt: skip


def gpus(samples: list[Read]) -> set[str]:
    return {sample.labels["gpu"] for sample in samples}


def test_eight_gpus_serve_the_default_set_of_dcgm_exporter_for_each(tmp_path: Path) -> None:
    with box(tmp_path, "[box]\ngpus = 8\nmodel = h100\n") as running:
        running.samples("DCGM_FI_PROF_DRAM_ACTIVE{")
        found = running.samples("DCGM_FI_PROF_PCIE_TX_BYTES{")
        text = running.exporter.get()[1]

    assert found.keys() >= DATACENTRE
    assert {name for name in DATACENTRE if gpus(found[name]) != set("01234567")} == set()
    assert promtool("".join(line for line in text.splitlines(keepends=True) if "DCGM_" not in line)) == ""


def test_processes_are_counted_for_their_user_and_end_at_once(tmp_path: Path) -> None:
    child = subprocess.Popen(["sleep", "600"])
    scenario = "[box]\ngpus = 1\nmodel = h100\n"
    try:
        with box(tmp_path, f"{scenario}[process]\npid = {child.pid}\nmem = 3GiB\nsm = 50\n") as running:
            found = running.samples("gputop_user_busy_gpu_seconds_total")
            running.write(scenario)
            end = time.monotonic() + PATIENCE_S
            while "gputop_user_processes" in (text := running.exporter.get()[1]):
                assert time.monotonic() < end
    finally:
        child.kill()
        child.wait()

    assert found["gputop_user_gpu_memory_used_bytes"][0].value == 3 * 1024**3
    assert "gputop_user_gpu_seconds_total{" not in text


@needs_root
def test_another_user_gets_all_series_and_the_reasons_for_those_that_are_absent() -> None:
    python, path = python_of_other()
    child = subprocess.Popen(["sleep", "600"])
    home = directory_of_other(Path(tempfile.mkdtemp(prefix="gputop-other-")) / "home")
    home.parent.chmod(0o755)
    scenario = home / "box.scn"
    scenario.write_text(
        "[box]\ngpus = 1\nmodel = h100\n[gpu 0]\nenergy = !permission\n"
        f"[process]\npid = {child.pid}\nmem = 3GiB\nsm = 50\n"
    )
    box_of_other = {"NVML_MOCK_SCENARIO": str(scenario), "NVML_MOCK_STATE": str(home / "state"), "HOME": str(home)}
    try:
        with exporting(python=python, user=str(OTHER), **path, **box_of_other) as running:
            running.until("gputop_user_gpu_seconds_total")
            running.until("DCGM_FI_PROF_DRAM_ACTIVE{")
            text = running.until("DCGM_FI_PROF_PCIE_TX_BYTES{")
    finally:
        child.kill()
        child.wait()
        shutil.rmtree(home.parent)

    assert 'gputop_user_gpu_memory_used_bytes{user="root"} 3221225472' in text
    assert "gputop_gpu_energy_joules_total{" not in text
    assert 'metric="energy_j",reason="forbidden"} 1' in text
    assert DATACENTRE - {row.name for row in read(text)} == {"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"}


def test_mig_instances_replace_their_board_for_dcgm_and_sums_of_gputop_are_right(tmp_path: Path) -> None:
    split = "[gpu 0]\nmig = 1\nmig.instances = 3g.40gb@4, 1g.10gb@0\n"
    with box(tmp_path, f"[box]\ngpus = 2\nmodel = h100\n{split}") as running:
        found = running.samples('GPU_I_PROFILE="3g.40gb"')
    used = {(s.labels["gpu"], s.labels.get("GPU_I_PROFILE")) for s in found["DCGM_FI_DEV_FB_USED"]}

    assert used == {("0", "3g.40gb"), ("0", "1g.10gb"), ("1", None)}
    assert gpus(found["DCGM_FI_DEV_GPU_UTIL"]) == {"1"}
    assert len(found["gputop_gpu_power_watts"]) == 2
    assert {s.labels["profile"] for s in found["gputop_gpu_instance_info"]} == {"3g.40gb", "1g.10gb"}


def test_a_lost_gpu_ends_its_readings_and_keeps_its_xid_while_the_others_go_on(tmp_path: Path) -> None:
    healthy = "[box]\ngpus = 3\nmodel = h100\n"
    with box(tmp_path, healthy) as running:
        running.samples("DCGM_FI_DEV_GPU_TEMP{")
        running.write(healthy + "[gpu 1]\nxid = 79 @ 0.1\nlost = after(1s)\n")
        found = running.samples('err_code="79"')
        end = time.monotonic() + PATIENCE_S
        while gpus(found["DCGM_FI_DEV_GPU_TEMP"]) != {"0", "2"}:
            assert time.monotonic() < end
            found = running.samples('err_code="79"')
    states = {s.labels["state"] for s in found["gputop_gpu_state"] if s.labels["gpu"] == "1" and s.value}
    xids = {(s.labels["gpu"], s.labels["xid"]): s.value for s in found["gputop_gpu_xid_errors_total"]}

    assert states == {"lost"}
    assert xids == {("1", "79"): 1}
    assert {s.labels["reason"] for s in found["gputop_gpu_missing_readings"] if s.labels["gpu"] == "1"} == {"lost"}


def test_a_driver_that_hangs_holds_up_no_scrape(tmp_path: Path) -> None:
    healthy = "[box]\ngpus = 2\nmodel = h100\n"
    with box(tmp_path, healthy) as running:
        running.samples("DCGM_FI_DEV_GPU_TEMP{")
        running.write(healthy + "[gpu 1]\nhang.nvmlDeviceGetTemperatureV = 600s\n")
        found = running.samples('state="hung"} 1')

    assert gpus(found["DCGM_FI_DEV_GPU_TEMP"]) == {"0"}


def test_a_consumer_board_serves_what_it_has_and_says_what_it_lacks(tmp_path: Path) -> None:
    with box(tmp_path, "[box]\ngpus = 1\nmodel = rtx4090\n") as running:
        found = running.samples("DCGM_FI_PROF_PCIE_TX_BYTES{")

    assert {"DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_FB_USED", "gputop_gpu_fan_speed_ratio"} <= found.keys()
    assert not [name for name in found if name.endswith(("ENGINE_ACTIVE", "TENSOR_ACTIVE", "DRAM_ACTIVE"))]
    assert {s.labels["reason"] for s in found["gputop_gpu_missing_readings"]} >= {"unsupported"}


def test_totals_of_users_survive_a_restart(tmp_path: Path) -> None:
    child = subprocess.Popen(["sleep", "600"])
    scenario = f"[box]\ngpus = 1\nmodel = h100\n[process]\npid = {child.pid}\nmem = 1GiB\nsm = 50\n"
    try:
        held = []
        for least in (0.3, 0.0):
            with box(tmp_path, scenario) as running:
                end = time.monotonic() + PATIENCE_S
                while not (found := running.samples("gputop_user_gpu_seconds_total{")) or (
                    found["gputop_user_gpu_seconds_total"][0].value <= least
                ):
                    assert time.monotonic() < end
                held.append(found["gputop_user_gpu_seconds_total"][0].value)
    finally:
        child.kill()
        child.wait()

    assert held[1] >= held[0]


def test_a_killed_exporter_does_not_return_with_less_than_a_client_has_read(tmp_path: Path) -> None:
    child = subprocess.Popen(["sleep", "600"])
    scenario = f"[box]\ngpus = 1\nmodel = h100\n[process]\npid = {child.pid}\nmem = 1GiB\nsm = 50\n"
    file = tmp_path / "gputop" / "export.json"
    try:
        with box(tmp_path, scenario) as running:
            while (read := _held(running)) <= 0.3:
                pass
            end = time.monotonic() + PATIENCE_S
            while not file.exists() or max((one.totals.gpu_seconds for one in load(str(file))), default=0) < read:
                assert time.monotonic() < end
                time.sleep(0.05)
            running.exporter.child.kill()
        with box(tmp_path, scenario) as running:
            back = _held(running)
    finally:
        child.kill()
        child.wait()

    assert back >= read


def _held(running: Box) -> float:
    """Return the GPU seconds of the user, as a client reads them."""
    return running.samples("gputop_user_gpu_seconds_total{")["gputop_user_gpu_seconds_total"][0].value
