"""What `nvidia-smi` printed on real boards, as the metrics that gputop must show: an own reading of the dumps."""

import csv
import lzma
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).parent / "smi"
ABSENT: Final = (
    "N/A",
    "Not Supported",
    "Insufficient Permissions",
    "Unknown Error",
    "Requested functionality",
    "GPU is",
)

Value = float | str | bool | None


class Dump(NamedTuple):
    """A dump and a state of the board in it: the name of a test."""

    path: Path
    state: str = "idle"

    @property
    def name(self) -> str:
        return self.path.name.split(".")[0].removeprefix("linux-x86_64__") + ("" if self.is_xml else f"-{self.state}")

    @property
    def is_xml(self) -> bool:
        return ".xml" in self.path.name

    def text(self) -> str:
        """Return the text of the dump."""
        return (
            lzma.decompress(self.path.read_bytes()) if self.path.suffix == ".xz" else self.path.read_bytes()
        ).decode()

    def gpus(self) -> "list[dict[str, Value]]":
        """Return per GPU the value of each metric that the dump names; None where the dump has no value."""
        rows = _of_xml(self.text()) if self.is_xml else _of_query(self.text(), self.state)
        gpus = [{key: read(row[name]) for key, name, read in self._columns() if name in row} for row in rows]
        return [{key: value for key, value in gpu.items() if self.is_xml or not key.endswith(MOVING)} for gpu in gpus]

    def _columns(self) -> "Iterator[tuple[str, str, Callable[[str], Value]]]":
        for key, in_xml, in_query, read in COLUMNS:
            if name := in_xml if self.is_xml else in_query:
                yield key, name, read


def dumps(folder: Path = FOLDER) -> list[Dump]:
    """Return the dumps of a folder: captures have the board idle and under load."""
    captures = [Dump(path, state) for path in sorted(folder.glob("*.txt*")) for state in ("idle", "load")]
    return [*(Dump(path) for path in sorted(folder.glob("*.xml*"))), *captures]


def _of_xml(text: str) -> list[dict[str, str]]:
    return [dict(_leaves(gpu, "")) for gpu in ET.fromstring(text).iter("gpu")]  # noqa: S314 - files of our own


def _leaves(element: ET.Element, path: str) -> Iterator[tuple[str, str]]:
    for child in element:
        yield f"{path}{child.tag}", (child.text or "").strip()
        yield from _leaves(child, f"{path}{child.tag}/")


def _of_query(text: str, state: str) -> list[dict[str, str]]:
    """Return the rows of the section `query-gpu` of a capture: the line below the command names the columns."""
    section = text.split(f"# {state} :: query-gpu")[1].split("\n####")[1]
    lines = [line for line in section.splitlines() if line and not line.startswith("#")]
    names, *rows = csv.reader(lines, skipinitialspace=True)
    return [dict(zip((name.split(" [")[0] for name in names), row, strict=True)) for row in rows]


def _text(text: str) -> str | None:
    return None if not text or any(mark in text for mark in ABSENT) else text


def _number(scale: float = 1.0) -> Callable[[str], float | None]:
    def read(text: str) -> float | None:
        found = _text(text)
        return None if found is None else float(re.match(r"-?[\d.]+", found)[0]) * scale  # type: ignore[index]

    return read


def _flag(text: str) -> bool | None:
    return {"Enabled": True, "Yes": True, "Disabled": False, "No": False}.get(text)


def _state(text: str) -> float | None:
    found = _text(text)
    return None if found is None else float(found.removeprefix("P"))


def _word(text: str) -> str | None:
    found = _text(text)
    return None if found is None else found.lower().replace("_", " ")


def _virtualization(text: str) -> str | None:
    found = _text(text)
    return {"Pass-Through": "passed through", "None": "none", "VGPU": "vGPU"}.get(found or "", found)


_MIB: Final = 1024.0**2
_MHZ: Final = 1e6

# A capture asked for these columns a second after the `-q` that the simulated driver plays: by then they had moved.
MOVING: Final = (
    "_utilization_percent", "temperature_c", "_margin_c", "power_average_w", "power_instant_w", "power_module_w",
    "clock_sm_hz",
    "clock_memory_hz", "clock_graphics_hz", "clock_video_hz", "fan_percent", "memory_used_bytes", "memory_free_bytes",
    "performance_state", "pcie_generation",
)  # fmt: skip

# metric, its element in XML, its column of --query-gpu, how its text is read
COLUMNS: Final[tuple[tuple[str, str, str, Callable[[str], Value]], ...]] = (
    ("serial", "serial", "serial", _text),
    ("vbios_version", "vbios_version", "vbios_version", _text),
    ("architecture", "product_architecture", "", lambda text: (text or "").replace("Ada Lovelace", "Ada") or None),
    ("minor_number", "minor_number", "", _number()),
    ("gpu_utilization_percent", "utilization/gpu_util", "utilization.gpu", _number()),
    ("memory_utilization_percent", "utilization/memory_util", "utilization.memory", _number()),
    ("encoder_utilization_percent", "utilization/encoder_util", "utilization.encoder", _number()),
    ("decoder_utilization_percent", "utilization/decoder_util", "utilization.decoder", _number()),
    ("encoder_sessions", "encoder_stats/session_count", "encoder.stats.sessionCount", _number()),
    ("jpeg_utilization_percent", "utilization/jpeg_util", "utilization.jpeg", _number()),
    ("ofa_utilization_percent", "utilization/ofa_util", "utilization.ofa", _number()),
    ("memory_total_bytes", "fb_memory_usage/total", "memory.total", _number(_MIB)),
    ("memory_used_bytes", "fb_memory_usage/used", "memory.used", _number(_MIB)),
    ("memory_reserved_bytes", "fb_memory_usage/reserved", "memory.reserved", _number(_MIB)),
    ("memory_free_bytes", "fb_memory_usage/free", "memory.free", _number(_MIB)),
    ("bar1_total_bytes", "bar1_memory_usage/total", "", _number(_MIB)),
    ("bar1_used_bytes", "bar1_memory_usage/used", "", _number(_MIB)),
    ("temperature_c", "temperature/gpu_temp", "temperature.gpu", _number()),
    ("memory_temperature_c", "temperature/memory_temp", "temperature.memory", _number()),
    ("temperature_margin_c", "temperature/gpu_temp_tlimit", "temperature.gpu.tlimit", _number()),
    ("temperature_slowdown_c", "temperature/gpu_temp_slow_threshold", "", _number()),
    ("temperature_shutdown_c", "temperature/gpu_temp_max_threshold", "", _number()),
    ("memory_temperature_max_c", "temperature/gpu_temp_max_mem_threshold", "", _number()),
    ("fan_percent", "fan_speed", "fan.speed", _number()),
    ("power_average_w", "gpu_power_readings/average_power_draw", "power.draw.average", _number()),
    ("power_average_w", "gpu_power_readings/power_draw", "", _number()),
    ("power_instant_w", "gpu_power_readings/instant_power_draw", "power.draw.instant", _number()),
    ("power_limit_w", "gpu_power_readings/current_power_limit", "enforced.power.limit", _number()),
    ("power_limit_default_w", "gpu_power_readings/default_power_limit", "power.default_limit", _number()),
    ("power_limit_min_w", "gpu_power_readings/min_power_limit", "power.min_limit", _number()),
    ("power_limit_max_w", "gpu_power_readings/max_power_limit", "power.max_limit", _number()),
    ("power_module_w", "module_power_readings/average_power_draw", "module.power.draw.average", _number()),
    ("clock_sm_hz", "clocks/sm_clock", "clocks.current.sm", _number(_MHZ)),
    ("clock_memory_hz", "clocks/mem_clock", "clocks.current.memory", _number(_MHZ)),
    ("clock_graphics_hz", "clocks/graphics_clock", "clocks.current.graphics", _number(_MHZ)),
    ("clock_video_hz", "clocks/video_clock", "clocks.current.video", _number(_MHZ)),
    ("clock_sm_max_hz", "max_clocks/sm_clock", "clocks.max.sm", _number(_MHZ)),
    ("clock_memory_max_hz", "max_clocks/mem_clock", "clocks.max.memory", _number(_MHZ)),
    ("clock_graphics_max_hz", "max_clocks/graphics_clock", "clocks.max.graphics", _number(_MHZ)),
    ("clock_video_max_hz", "max_clocks/video_clock", "", _number(_MHZ)),
    ("performance_state", "performance_state", "pstate", _state),
    ("pcie_generation", "pci/pci_gpu_link_info/pcie_gen/current_link_gen", "pcie.link.gen.current", _number()),
    ("pcie_width", "pci/pci_gpu_link_info/link_widths/current_link_width", "pcie.link.width.current", _number()),
    ("pcie_generation_max", "pci/pci_gpu_link_info/pcie_gen/max_link_gen", "pcie.link.gen.max", _number()),
    ("pcie_width_max", "pci/pci_gpu_link_info/link_widths/max_link_width", "pcie.link.width.max", _number()),
    ("pcie_replays", "pci/replay_counter", "", _number()),
    ("ecc_enabled", "ecc_mode/current_ecc", "ecc.mode.current", _flag),
    ("ecc_volatile_corrected", "", "ecc.errors.corrected.volatile.total", _number()),
    ("ecc_volatile_uncorrected", "", "ecc.errors.uncorrected.volatile.total", _number()),
    ("ecc_aggregate_corrected", "", "ecc.errors.corrected.aggregate.total", _number()),
    ("ecc_aggregate_uncorrected", "", "ecc.errors.uncorrected.aggregate.total", _number()),
    ("retired_pages_single_bit", "retired_pages/multiple_single_bit_retirement/retired_count",
     "retired_pages.single_bit_ecc.count", _number()),
    ("retired_pages_double_bit", "retired_pages/double_bit_retirement/retired_count",
     "retired_pages.double_bit.count", _number()),
    ("retired_pages_pending", "retired_pages/pending_retirement", "retired_pages.pending", _flag),
    ("remapped_rows_correctable", "remapped_rows/remapped_row_corr", "remapped_rows.correctable", _number()),
    ("remapped_rows_uncorrectable", "remapped_rows/remapped_row_unc", "remapped_rows.uncorrectable", _number()),
    ("remapped_rows_pending", "remapped_rows/remapped_row_pending", "remapped_rows.pending", _flag),
    ("remapped_rows_failed", "remapped_rows/remapped_row_failure", "remapped_rows.failure", _flag),
    ("recovery_action", "gpu_recovery_action", "gpu_recovery_action", _word),
    ("persistence_mode", "persistence_mode", "persistence_mode", _flag),
    ("compute_mode", "compute_mode", "compute_mode", _word),
    ("virtualization", "gpu_virtualization_mode/virtualization_mode", "", _virtualization),
    ("mig_mode", "mig_mode/current_mig", "mig.mode.current", _flag),
    ("mig_mode_pending", "mig_mode/pending_mig", "mig.mode.pending", _flag),
)  # fmt: skip
