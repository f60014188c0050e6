"""Is a board sick? Errors of memory and links, Xids, a GPU that is lost, a driver that does not answer."""

from collections.abc import Iterator, Mapping
from typing import Final

from gputop.core.detection.detector import Claim, Context, Dial, Kind
from gputop.core.detectors.hardware.links import LinkWatch
from gputop.core.detectors.hardware.memory import MemoryWatch
from gputop.core.detectors.hardware.state import StateWatch
from gputop.core.detectors.hardware.xid import XidWatch

KIND: Final = Kind(
    name="hardware",
    question="Is a board sick: memory, links, Xids, a lost GPU, a driver that does not answer?",
    codes={
        "gpu.lost": "The GPU does not answer any more: it fell off the bus or needs a reset.",
        "gpu.hung": "The driver does not answer for this GPU.",
        "gpu.recovery": "The driver says what must be done to get the GPU well again.",
        "driver.hung": "The driver does not answer at all.",
        "reading.incomplete": "Something of the machine cannot be read.",
        "mig.pending": "The MIG mode changes with the next reset.",
        "xid.grave": "The driver reported an error after which the GPU is not to be used before something is done.",
        "xid.application": "The driver reported an error of an application.",
        "xid.note": "The driver reported something that is worth knowing.",
        "ecc.uncorrected": "Errors of the memory that ECC could not correct.",
        "ecc.corrected": "Many errors of the memory that ECC corrected.",
        "remap.failed": "A bad row of the memory could not be replaced.",
        "remap.pending": "A bad row of the memory is replaced with the next reset.",
        "remap.many": "Very many bad rows of the memory were replaced.",
        "retired.pending": "Bad pages of the memory are taken out of use with the next reset.",
        "retired.many": "Very many pages of the memory are out of use.",
        "pcie.link": "The PCIe link is narrower or slower than it can be, while the GPU works.",
        "pcie.replays": "Packets on PCIe are sent again more often than a good link needs.",
        "nvlink.down": "An NVLink is down that its siblings have.",
        "nvlink.errors": "An NVLink replays, recovers or corrects errors.",
    },
    remedies={
        "gpu.lost": "See why in `sudo dmesg | grep -i xid`; then `sudo nvidia-smi --gpu-reset -i N`, or reboot.",
        "gpu.hung": "See `sudo dmesg | grep -i xid`. If it lasts, reboot: what waits in the kernel cannot be killed.",
        "gpu.recovery": "What it says: mostly `sudo nvidia-smi --gpu-reset -i N` once nothing runs there.",
        "driver.hung": "See `sudo dmesg | grep -i xid`. If it lasts, reboot.",
        "reading.incomplete": "See what waits: `ps -eo pid,stat,wchan,cmd`. What is shown may be old.",
        "mig.pending": "When nothing runs there: `sudo nvidia-smi --gpu-reset -i N`.",
        "xid.grave": "What the finding names; `gputop doctor` has the table of Xids.",
        "xid.application": "Look at the program first: `sudo dmesg | grep -i xid` names its pid.",
        "xid.note": "Nothing at once; `sudo dmesg | grep -i xid` has the lines.",
        "ecc.uncorrected": "Do not trust what ran there; then `sudo nvidia-smi --gpu-reset -i N`.",
        "ecc.corrected": "Nothing is lost. Look again tomorrow: `gputop doctor`.",
        "remap.failed": "Take it out of service; for its maker: `nvidia-bug-report.sh`.",
        "remap.pending": "When nothing runs there: `sudo nvidia-smi --gpu-reset -i N`.",
        "remap.many": "Take it out of service; for its maker: `nvidia-bug-report.sh`.",
        "retired.pending": "When nothing runs there: `sudo nvidia-smi --gpu-reset -i N`.",
        "retired.many": "Plan to replace the board: `nvidia-smi -q -d PAGE_RETIREMENT -i N`.",
        "pcie.link": "Look at seating, riser and BIOS: `sudo lspci -vv`, its lines LnkSta.",
        "pcie.replays": "Reseat the board or its riser; see `sudo dmesg | grep -i aer`.",
        "nvlink.down": "See which: `nvidia-smi nvlink -s -i N`; and `systemctl status nvidia-fabricmanager`.",
        "nvlink.errors": "See which: `nvidia-smi nvlink -e -i N`; look at both its ends.",
    },
    dials=(
        Dial(key="hung_alarm_s", default=10.0, least=3.0, most=3600.0, help="Silence of the driver that is an alarm."),
        Dial(key="grave_xid_s", default=3600.0, least=60.0, most=604800.0, help="How long a grave Xid is shown."),
        Dial(key="xid_s", default=600.0, least=10.0, most=604800.0, help="How long another Xid is shown."),
        Dial(
            key="corrected_a_day", default=100.0, least=1.0, most=1e9,
            help="Corrected memory errors a day that are worth a line.",
        ),
        Dial(
            key="most_remaps", default=512.0, least=1.0, most=1e6,
            help="Rows replaced after uncorrected errors that are an alarm.",
        ),
        Dial(key="many_pages", default=15.0, least=1.0, most=1e6, help="Retired pages that are worth a line."),
        Dial(key="most_pages", default=63.0, least=1.0, most=1e6, help="Retired pages that are an alarm."),
        Dial(
            key="busy_percent", default=50.0, least=1.0, most=100.0,
            help="GPU utilization from which a PCIe link is judged: links of idle GPUs slow down.",
        ),
        Dial(
            key="link_s", default=60.0, least=10.0, most=86400.0,
            help="Time below its width or generation, while busy, from which a PCIe link is told.",
        ),
        Dial(
            key="replay_factor", default=1.0, least=0.01, most=1e6,
            help="PCIe replays that are told, in multiples of what a link of its width and generation may have.",
        ),
        Dial(
            key="nvlink_a_minute", default=1.0, least=0.1, most=1e6,
            help="NVLink replays and recoveries a minute that are an alarm.",
        ),
        Dial(
            key="nvlink_crc_a_second", default=100.0, least=0.1, most=1e9,
            help="NVLink CRC errors a second that are a suspect.",
        ),
        Dial(
            key="beside_s", default=60.0, least=0.0, most=3600.0,
            help="An Xid that only follows another is not told within such a time of it.",
        ),
        Dial(
            key="awake_pstate", default=2.0, least=0.0, most=15.0,
            help="The last P-state in which a PCIe link is judged: in those after it boards rest.",
        ),
    ),
    is_instant=True,
)  # fmt: skip


class HardwareDetector:
    """Asks four watches about each GPU."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._state = StateWatch(dials)
        self._watches = (XidWatch(dials), MemoryWatch(dials), LinkWatch(dials))

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return what is sick."""
        yield from self._state.detect(context)
        for watch in self._watches:
            yield from watch.detect(context)
