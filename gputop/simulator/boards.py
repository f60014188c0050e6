"""THE BOARDS: a row per model, from NVIDIA's data sheets and the answers of real boards."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

ECC_CALLS: Final = frozenset({
    "nvmlDeviceGetEccMode", "nvmlDeviceGetTotalEccErrors", "nvmlDeviceGetRemappedRows",
    "nvmlDeviceGetRepairStatus", "nvmlDeviceGetRowRemapperHistogram",
})  # fmt: skip
PCIE_COUNTERS: Final = frozenset({197, 198})


class Board(Struct, frozen=True, kw_only=True):
    """A model of a board.

    ``thresholds_c``: by nvmlTemperatureThresholds_t (0 shutdown, 1 slowdown, 2 memory, 3 GPU maximum). ``heating``: °C
    per watt above ``inlet_c``. ``context_w``: the power that the first CUDA context adds. ``calls`` and ``fields``:
    those that are NOT_SUPPORTED.
    """

    name: str
    architecture: int
    capability: tuple[int, int]
    cores: int
    multiprocessors: int
    memory_mib: int
    reserved_mib: int
    bar1_mib: int
    idle_w: float
    context_w: float
    min_w: float
    default_w: float
    max_w: float
    sm_mhz: int
    memory_mhz: int
    video_mhz: int
    idle_mhz: int
    pcie_generation: int
    thresholds_c: dict[int, int]
    inlet_c: float
    heating: float
    vbios: str
    pci_id: int
    nvlinks: int = 0
    mig_devices: int = 0
    has_gpm: bool = False
    has_ecc: bool = True
    has_memory_sensor: bool = True
    fans: int = 0
    is_consumer: bool = False
    calls: frozenset[str] = frozenset()
    fields: frozenset[int] = frozenset()


_FANLESS: Final = frozenset({"nvmlDeviceGetFanSpeed"})
H100: Final = Board(
    name="NVIDIA H100 80GB HBM3", architecture=9, capability=(9, 0), cores=16_896, multiprocessors=132,
    memory_mib=81_559, reserved_mib=551, bar1_mib=131_072, idle_w=68.0, context_w=47.0, min_w=200.0, default_w=700.0,
    max_w=700.0, sm_mhz=1980, memory_mhz=2619, video_mhz=1545, idle_mhz=345, pcie_generation=5,
    thresholds_c={0: 95, 1: 92, 2: 95, 3: 87}, inlet_c=25.0, heating=0.0585, vbios="96.00.61.00.01", pci_id=0x233010DE,
    nvlinks=18, mig_devices=7, has_gpm=True, calls=_FANLESS,
)  # fmt: skip
H200: Final = replace(
    H100, name="NVIDIA H200", memory_mib=143_771, reserved_mib=611, memory_mhz=3201, vbios="96.00.A5.00.01",
    pci_id=0x233510DE,
)  # fmt: skip
A100: Final = Board(
    name="NVIDIA A100-SXM4-40GB", architecture=7, capability=(8, 0), cores=6912, multiprocessors=108,
    memory_mib=40_960, reserved_mib=431, bar1_mib=65_536, idle_w=52.0, context_w=16.0, min_w=100.0, default_w=400.0,
    max_w=400.0, sm_mhz=1410, memory_mhz=1215, video_mhz=1290, idle_mhz=210, pcie_generation=4,
    thresholds_c={0: 92, 1: 89, 2: 95, 3: 85}, inlet_c=24.0, heating=0.086, vbios="92.00.19.00.01", pci_id=0x20B010DE,
    nvlinks=12, mig_devices=7, calls=_FANLESS | {"nvmlDeviceGetMarginTemperature"}, fields=frozenset({185, 186}),
)  # fmt: skip
_NO_LINK_NO_SPLIT: Final = frozenset({"nvmlDeviceGetMigMode", "nvmlDeviceGetNvLinkState", "nvmlDeviceGetSerial"})
RTX_4090: Final = Board(
    name="NVIDIA GeForce RTX 4090", architecture=8, capability=(8, 9), cores=16_384, multiprocessors=128,
    memory_mib=24_564, reserved_mib=350, bar1_mib=32_768, idle_w=19.0, context_w=12.0, min_w=150.0, default_w=450.0,
    max_w=600.0, sm_mhz=3105, memory_mhz=10_501, video_mhz=2415, idle_mhz=210, pcie_generation=4,
    thresholds_c={0: 100, 1: 97, 3: 90}, inlet_c=32.0, heating=0.098, vbios="95.02.18.80.87", pci_id=0x268410DE,
    fans=2, is_consumer=True, has_ecc=False, has_memory_sensor=False, calls=ECC_CALLS | _NO_LINK_NO_SPLIT,
)  # fmt: skip
RTX_3090: Final = Board(
    name="NVIDIA GeForce RTX 3090", architecture=7, capability=(8, 6), cores=10_496, multiprocessors=82,
    memory_mib=24_576, reserved_mib=317, bar1_mib=256, idle_w=23.0, context_w=75.0, min_w=100.0, default_w=350.0,
    max_w=385.0, sm_mhz=2100, memory_mhz=9751, video_mhz=1950, idle_mhz=210, pcie_generation=4,
    thresholds_c={0: 98, 1: 95, 3: 93}, inlet_c=33.0, heating=0.131, vbios="94.02.42.00.A9", pci_id=0x220410DE, fans=2,
    is_consumer=True, has_ecc=False, has_memory_sensor=False,
    calls=ECC_CALLS | _NO_LINK_NO_SPLIT | {
        "nvmlDeviceGetMarginTemperature", "nvmlDeviceGetJpgUtilization", "nvmlDeviceGetOfaUtilization",
    },
    fields=PCIE_COUNTERS | {230},
)  # fmt: skip
