"""The series of dcgm-exporter: names, types, units and labels as those of a real one (4.8)."""

from typing import Any

import pytest
from examples import GIB, frame, gpu
from expositions import promtool, read

from gputop.core.model import catalogue as c
from gputop.core.model.metric import Missing
from gputop.core.model.sample import DriverInfo, Frame, GpuInstance, GpuState, XidEvent
from gputop.core.usage.events import EventCounts
from gputop.core.usage.holders import Container, Holders
from gputop.core.usage.ledger import Ledger
from gputop.core.usage.past import Past
from gputop.report.prometheus.dcgm import ABSENT, DCGM
from gputop.report.prometheus.scene import Shape
from gputop.report.prometheus.series import Group
from gputop.report.prometheus.table import of_frame

USUAL = {
    "DCGM_FI_DEV_SM_CLOCK": "gauge", "DCGM_FI_DEV_MEM_CLOCK": "gauge", "DCGM_FI_DEV_MEMORY_TEMP": "gauge",
    "DCGM_FI_DEV_GPU_TEMP": "gauge", "DCGM_FI_DEV_POWER_USAGE": "gauge",
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": "counter", "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": "counter",
    "DCGM_FI_DEV_GPU_UTIL": "gauge", "DCGM_FI_DEV_MEM_COPY_UTIL": "gauge", "DCGM_FI_DEV_ENC_UTIL": "gauge",
    "DCGM_FI_DEV_DEC_UTIL": "gauge", "DCGM_FI_DEV_XID_ERRORS": "gauge", "DCGM_FI_DEV_FB_FREE": "gauge",
    "DCGM_FI_DEV_FB_USED": "gauge", "DCGM_FI_DEV_FB_RESERVED": "gauge",
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL": "counter", "DCGM_FI_DEV_VGPU_LICENSE_STATUS": "gauge",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": "counter", "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": "counter",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": "gauge", "DCGM_FI_PROF_GR_ENGINE_ACTIVE": "gauge",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": "gauge", "DCGM_FI_PROF_DRAM_ACTIVE": "gauge",
    "DCGM_FI_PROF_PCIE_TX_BYTES": "gauge", "DCGM_FI_PROF_PCIE_RX_BYTES": "gauge",
}  # fmt: skip
MORE = {
    "DCGM_FI_DEV_POWER_VIOLATION", "DCGM_FI_DEV_THERMAL_VIOLATION", "DCGM_FI_DEV_SYNC_BOOST_VIOLATION",
    "DCGM_FI_DEV_BOARD_LIMIT_VIOLATION", "DCGM_FI_DEV_LOW_UTIL_VIOLATION", "DCGM_FI_DEV_RELIABILITY_VIOLATION",
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", "DCGM_FI_DEV_ECC_SBE_AGG_TOTAL",
    "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", "DCGM_FI_DEV_RETIRED_SBE", "DCGM_FI_DEV_RETIRED_DBE",
    "DCGM_FI_DEV_RETIRED_PENDING", "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL",
    "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL",
    "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", "DCGM_FI_DEV_NVLINK_BANDWIDTH_L0", "DCGM_FI_PROF_SM_ACTIVE",
    "DCGM_FI_PROF_SM_OCCUPANCY", "DCGM_FI_PROF_PIPE_FP64_ACTIVE", "DCGM_FI_PROF_PIPE_FP32_ACTIVE",
    "DCGM_FI_PROF_PIPE_FP16_ACTIVE", "DCGM_FI_PROF_NVLINK_TX_BYTES", "DCGM_FI_PROF_NVLINK_RX_BYTES",
    "DCGM_EXP_XID_ERRORS_COUNT", "DCGM_EXP_CLOCK_EVENTS_COUNT", "DCGM_EXP_GPU_HEALTH_STATUS", "DCGM_EXP_P2P_STATUS",
    "DCGM_FI_DEV_BRAND", "DCGM_FI_DEV_OEM_INFOROM_VER", "DCGM_FI_DEV_ECC_INFOROM_VER", "DCGM_FI_DEV_POWER_INFOROM_VER",
    "DCGM_FI_DEV_INFOROM_IMAGE_VER",
}  # fmt: skip
ALL = Shape(groups=(Group.DCGM, Group.DCGM_MORE), hostname_label="hostname")
READINGS: dict[Any, Any] = {
    c.CLOCK_SM: 1_725_000_000, c.CLOCK_MEMORY: 2_619_000_000, c.MEMORY_TEMPERATURE: 67, c.ENERGY: 1263.419,
    c.PCIE_REPLAYS: 3, c.MEMORY_UTILIZATION: 53, c.ENCODER_UTILIZATION: 0, c.DECODER_UTILIZATION: 1,
    c.MEMORY_FREE: 17_196_646_400, c.MEMORY_RESERVED: 577_765_376, c.NVLINK_TX: 200e9, c.NVLINK_RX: 100e9,
    c.REMAPPED_ROWS_UNCORRECTABLE: 1, c.REMAPPED_ROWS_CORRECTABLE: 2, c.REMAPPED_ROWS_FAILED: True,
    c.GRAPHICS_ACTIVE: 93.0, c.TENSOR_ACTIVE: 51.5, c.DRAM_ACTIVE: 46.25, c.PCIE_TX: 445_493_510.2, c.PCIE_RX: 1.5e9,
    c.POWER_AVERAGE: 647.257,
}  # fmt: skip


def text(of: Frame, shape: Shape = ALL, events: EventCounts | None = None, **jobs: tuple[str, ...]) -> str:
    past = Past(Ledger())
    past.events = events or past.events
    past.holders = Holders({name.removeprefix("gpu").replace("_", "."): each for name, each in jobs.items()})
    return of_frame(of, shape, past)


def values(of: Frame, shape: Shape = ALL) -> dict[str, float]:
    return {sample.name: sample.value for sample in read(text(of, shape))}


def test_every_series_of_dcgm_exporter_has_its_type_or_a_reason_why_it_is_absent() -> None:
    served = {row.name: row.type for row in DCGM if row.group is Group.DCGM}
    absent = {row.name for row in ABSENT}

    assert served | {name: USUAL[name] for name in USUAL if name in absent} == USUAL
    assert {row.name for row in DCGM if row.group is Group.DCGM_MORE} | (absent - USUAL.keys()) == MORE


@pytest.mark.parametrize(
    ("mode", "licence"), [("none", 0), ("passed through", 0), ("vGPU", None), (Missing.UNSUPPORTED, None)]
)
def test_a_vgpu_has_no_licence_status_because_gputop_cannot_read_it(mode: object, licence: int | None) -> None:
    found = values(frame(gpus=(gpu(0, {c.VIRTUALIZATION: mode}),)))

    assert found.get("DCGM_FI_DEV_VGPU_LICENSE_STATUS") == licence


def test_units_are_those_of_dcgm() -> None:
    found = values(frame(gpus=(gpu(0, READINGS),)))

    assert found["DCGM_FI_DEV_SM_CLOCK"] == 1725  # MHz
    assert found["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"] == 1_263_419  # mJ
    assert found["DCGM_FI_DEV_FB_USED"] == 40 * GIB >> 20  # MiB
    assert found["DCGM_FI_DEV_FB_RESERVED"] == 551  # whole MiB
    assert found["DCGM_FI_DEV_GPU_UTIL"] == 90  # percent
    assert found["DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"] == 0.515  # ratio
    assert found["DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"] == 292_968  # KiB per second / 1000
    assert found["DCGM_FI_DEV_ROW_REMAP_FAILURE"] == 1


def test_labels_have_the_order_of_dcgm_exporter() -> None:
    shown = text(frame(gpus=(gpu(3),), driver=DriverInfo(version="570.86.15")))

    assert (
        'DCGM_FI_DEV_GPU_TEMP{gpu="3",UUID="GPU-00000003",pci_bus_id="00000000:04:00.0",device="nvidia3",'
        'modelName="NVIDIA H100 80GB HBM3",hostname="node7",DCGM_FI_DRIVER_VERSION="570.86.15"} 60\n'
    ) in shown


@pytest.mark.parametrize(
    ("label", "names"),
    [("both", {"Hostname", "hostname"}), ("Hostname", {"Hostname"}), ("hostname", {"hostname"}), ("none", set())],
)
def test_the_host_has_the_label_that_the_dashboards_of_a_site_expect(label: str, names: set[str]) -> None:
    (sample, *_) = read(text(frame(1), Shape(groups=(Group.DCGM,), hostname_label=label)))

    assert {name for name in sample.labels if name.lower() == "hostname"} == names


def test_an_absent_value_is_left_out_and_never_zero() -> None:
    found = values(frame(gpus=(gpu(0, {c.POWER_AVERAGE: Missing.FORBIDDEN}),)))

    assert "DCGM_FI_DEV_POWER_USAGE" not in found
    assert "DCGM_FI_DEV_GPU_TEMP" in found
    assert "# TYPE DCGM_FI_DEV_POWER_USAGE" not in text(frame(gpus=(gpu(0, {c.POWER_AVERAGE: Missing.FORBIDDEN}),)))


def test_a_lost_gpu_keeps_no_old_values() -> None:
    lost = gpu(0, dict.fromkeys([*READINGS, c.GPU_UTILIZATION, c.TEMPERATURE, c.MEMORY_USED], Missing.LOST))
    found = values(frame(gpus=(lost,), driver=DriverInfo()), Shape(groups=(Group.DCGM,)))

    assert found == {"DCGM_FI_DEV_XID_ERRORS": 0}


MIG = gpu(
    0,
    READINGS,
    instances=(
        GpuInstance(id=1, profile="3g.40gb", metrics={c.MEMORY_USED.key: 5 << 20, c.TENSOR_ACTIVE.key: 25.0}),
        GpuInstance(id=9, profile="1g.10gb", metrics={c.MEMORY_USED.key: 1 << 20}),
    ),
)


def test_mig_instances_stand_for_their_board_as_in_dcgm_exporter() -> None:
    samples = read(text(frame(gpus=(MIG, gpu(1)))))
    used = {(s.labels["gpu"], s.labels.get("GPU_I_ID")): s.value for s in samples if s.name == "DCGM_FI_DEV_FB_USED"}
    power = {(s.labels["gpu"], s.labels.get("GPU_I_ID")) for s in samples if s.name == "DCGM_FI_DEV_POWER_USAGE"}
    busy = {(s.labels["gpu"], s.labels.get("GPU_I_ID")) for s in samples if s.name == "DCGM_FI_DEV_GPU_UTIL"}

    assert used == {("0", "1"): 5, ("0", "9"): 1, ("1", None): 40 << 10}
    assert power == {("0", "1"), ("0", "9"), ("1", None)}  # repeated: a known fault, kept
    assert busy == {("1", None)}
    assert {s.labels["UUID"] for s in samples if s.labels["gpu"] == "0"} == {MIG.uuid}


@pytest.mark.parametrize(
    ("devices", "parts"), [("g", {None}), ("i", {"1", "9"}), ("g+i", {None, "1", "9"}), ("f", {"1", "9"})]
)
def test_boards_and_instances_are_chosen_as_with_dcgm_exporter(devices: Any, parts: set[str | None]) -> None:
    samples = read(text(frame(gpus=(MIG,)), Shape(groups=(Group.DCGM,), devices=devices)))

    assert {sample.labels.get("GPU_I_ID") for sample in samples} == parts


def test_the_last_xid_stays_and_recent_ones_are_counted() -> None:
    events = EventCounts()
    first = frame(gpus=(gpu(0, xids=(XidEvent(time_s=1.0, xid=31), XidEvent(time_s=2.0, xid=79))),))
    events.take(first)
    events.take(first)  # the same events are still among the last ones
    lost = frame(gpus=(gpu(0, xids=first.gpus[0].xids, state=GpuState.LOST),))
    events.take(lost)
    samples = {(s.name, s.labels.get("xid")): s for s in read(text(lost, events=events))}

    assert samples["DCGM_FI_DEV_XID_ERRORS", None].value == 79
    assert samples["DCGM_FI_DEV_XID_ERRORS", None].labels["err_code"] == "79"
    assert samples["DCGM_EXP_XID_ERRORS_COUNT", "31"].value == 1
    assert samples["DCGM_EXP_XID_ERRORS_COUNT", "31"].labels["window_size_in_ms"] == "300000"


def test_hpc_jobs_are_a_label_of_their_gpu_or_instance_and_repeat_its_series() -> None:
    samples = read(text(frame(gpus=(MIG, gpu(1), gpu(2))), gpu1=("84213", "84214"), gpu0_9=("5521",)))
    jobs = {
        (s.labels["gpu"], s.labels.get("GPU_I_ID"), s.labels.get("hpc_job"))
        for s in samples
        if s.name == "DCGM_FI_DEV_FB_USED"
    }
    (xid,) = (s.labels for s in samples if s.name == "DCGM_FI_DEV_XID_ERRORS" and s.labels.get("hpc_job") == "84213")

    assert jobs == {
        ("0", "1", None), ("0", "9", "5521"), ("1", None, "84213"), ("1", None, "84214"), ("2", None, None),
    }  # fmt: skip
    assert xid["err_code"] == "0"


def test_containers_are_labels_of_what_they_hold_in_the_order_of_dcgm_exporter() -> None:
    past = Past(Ledger())
    held = {"GPU-00000001": Container("train-0", "ml", "pytorch"), "nvidia0/gi9": Container("serve", "web", "triton")}
    past.holders = Holders({"1": ("84213",)}, {name: (container,) for name, container in held.items()})
    lines = [
        line.partition('DCGM_FI_DRIVER_VERSION="580.1",')[2].partition("}")[0]
        for line in of_frame(
            frame(gpus=(MIG, gpu(1), gpu(2)), driver=DriverInfo(version="580.1")), ALL, past
        ).splitlines()
        if line.startswith("DCGM_FI_DEV_FB_USED{")
    ]

    assert lines == [
        "", 'container="triton",namespace="web",pod="serve"',
        'container="pytorch",hpc_job="84213",namespace="ml",pod="train-0"', "",
    ]  # fmt: skip


def test_containers_that_share_a_gpu_have_its_series_each_with_their_replica() -> None:
    past = Past(Ledger())
    past.holders = Holders({}, {"nvidia1": (Container("a", "ml", "c", "0"), Container("b", "ml", "c", "1"))})
    found = read(of_frame(frame(gpus=(gpu(1),)), ALL, past))

    assert [(s.labels["pod"], s.labels["vgpu"]) for s in found if s.name == "DCGM_FI_DEV_FB_USED"] == [
        ("a", "0"), ("b", "1"),
    ]  # fmt: skip


def test_hostile_names_stay_within_their_label() -> None:
    name = 'H100"} 1\nevil{a="\\'
    found = read(text(frame(gpus=(gpu(0, name=name),))))

    assert {sample.labels["modelName"] for sample in found} == {'H100"} 1␊evil{a="\\'}
    assert {sample.family for sample in found} <= {row.name.removesuffix("_total") for row in DCGM}


def test_promtool_has_no_other_complaint_than_about_the_names_of_dcgm() -> None:
    complaints = promtool(text(frame(gpus=(MIG, gpu(1, READINGS)))))

    assert {line.partition(" ")[2] for line in complaints.splitlines()} <= {
        'counter metrics should have "_total" suffix', 'non-counter metrics should not have "_total" suffix',
        "label names should be written in 'snake_case' not 'camelCase'",
        "metric name should not include type 'counter'",
    }  # fmt: skip
