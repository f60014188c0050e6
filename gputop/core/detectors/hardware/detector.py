"""The detector of hardware faults: memory and link errors, Xids, lost GPUs, a driver that does not respond."""

from collections.abc import Iterator, Mapping
from typing import Final

from gputop.core.detection.detector import Claim, Context, Dial, Kind
from gputop.core.detectors.hardware.links import LinkWatch
from gputop.core.detectors.hardware.memory import MemoryWatch
from gputop.core.detectors.hardware.state import StateWatch
from gputop.core.detectors.hardware.xid import XidWatch

KIND: Final = Kind(
    name="hardware",
    question="Does the hardware fail: memory, links, Xid errors, a lost GPU, a driver that does not respond?",
    codes={
        "gpu.lost": "The GPU no longer responds: it fell off the bus or needs a reset.",
        "gpu.hung": "The driver does not respond for this GPU.",
        "gpu.recovery": "The driver requests an action that recovers the GPU.",
        "driver.hung": "The driver does not respond at all.",
        "reading.incomplete": "Some values of the machine cannot be read.",
        "mig.pending": "The MIG mode changes at the next reset.",
        "xid.grave": "The driver reported an error that needs an action before you use the GPU again.",
        "xid.application": "The driver reported an error that an application caused.",
        "xid.note": "The driver reported a harmless event.",
        "ecc.uncorrected": "The GPU memory had errors that ECC could not correct.",
        "ecc.corrected": "ECC corrected many memory errors.",
        "remap.failed": "A bad memory row could not be replaced.",
        "remap.pending": "A bad memory row will be replaced at the next reset.",
        "remap.many": "Very many bad memory rows were replaced.",
        "retired.pending": "Bad memory pages will be retired at the next reset.",
        "retired.many": "Very many memory pages are retired.",
        "pcie.link": "While the GPU works, its PCIe link has fewer lanes or a lower speed than possible.",
        "pcie.replays": "PCIe packets are resent more often than on a good link.",
        "nvlink.down": "More NVLinks are down than when gputop started, or than on another GPU of this model.",
        "nvlink.errors": "An NVLink has errors: packets are sent again, the link recovers, or checksums are wrong.",
    },
    remedies={
        "gpu.lost": "See why: `sudo dmesg | grep -i xid`. Then `sudo nvidia-smi --gpu-reset -i N`, or reboot.",
        "gpu.hung": "See `sudo dmesg | grep -i xid`. If it continues, reboot: a process in state D cannot be killed.",
        "gpu.recovery": "Do what it requests: mostly `sudo nvidia-smi --gpu-reset -i N` when nothing runs on the GPU.",
        "driver.hung": "See `sudo dmesg | grep -i xid`. If it continues, reboot.",
        "reading.incomplete": "See which processes wait: `grep -s State:.D /proc/[0-9]*/status`. Values may be old.",
        "mig.pending": "When nothing runs on the GPU: `sudo nvidia-smi --gpu-reset -i N`.",
        "xid.grave": "Follow the advice of the finding. `docs/doctor.md` explains all Xids.",
        "xid.application": "Check the program first: `sudo dmesg | grep -i xid` names its pid.",
        "xid.note": "Nothing. To see the event: `sudo dmesg | grep -i xid`.",
        "ecc.uncorrected": "Do not trust results from this GPU. Then `sudo nvidia-smi --gpu-reset -i N`.",
        "ecc.corrected": "No data is lost. Check again tomorrow: `gputop doctor`.",
        "remap.failed": "Take the GPU out of service. For the vendor: `nvidia-bug-report.sh`.",
        "remap.pending": "When nothing runs on the GPU: `sudo nvidia-smi --gpu-reset -i N`.",
        "remap.many": "Take the GPU out of service. For the vendor: `nvidia-bug-report.sh`.",
        "retired.pending": "When nothing runs on the GPU: `sudo nvidia-smi --gpu-reset -i N`.",
        "retired.many": "Plan to replace the board: `nvidia-smi -q -d PAGE_RETIREMENT -i N`.",
        "pcie.link": "Check seating, riser and BIOS: `sudo lspci -vv`, the lines with LnkSta.",
        "pcie.replays": "Reseat the board or its riser; see `sudo dmesg | grep -i aer`.",
        "nvlink.down": "See which: `nvidia-smi nvlink -s -i N`. Check `systemctl status nvidia-fabricmanager`.",
        "nvlink.errors": "See which: `nvidia-smi nvlink -e -i N`. Check both ends of the link.",
    },
    dials=(
        Dial("hung_alarm_s", 10.0, 3.0, 3600.0, "A driver that has not answered for at least this time is an alarm."),
        Dial("grave_xid_s", 3600.0, 60.0, 604800.0, "gputop shows a grave Xid for this time."),
        Dial("xid_s", 600.0, 10.0, 604800.0, "gputop shows any other Xid for this time."),
        Dial(
            "corrected_a_day", 100.0, 1.0, 1e9,
            "More than this many corrected memory errors per day are an observation.",
        ),
        Dial("most_remaps", 512.0, 1.0, 1e6, "At least this many rows replaced after uncorrected errors are an alarm."),
        Dial("many_pages", 15.0, 1.0, 1e6, "At least this many retired pages are an observation."),
        Dial("most_pages", 63.0, 1.0, 1e6, "At least this many retired pages are an alarm."),
        Dial(
            "busy_percent", 50.0, 1.0, 100.0,
            "gputop judges a PCIe link only if the GPU utilization is at least this: the links of idle GPUs slow "
            "down.",
        ),
        Dial(
            "link_s", 60.0, 10.0, 86400.0,
            "gputop reports a PCIe link if it is slow for at least this time while the GPU is busy.",
        ),
        Dial(
            "replay_factor", 1.0, 0.01, 1e6,
            "gputop reports PCIe replays above this multiple of the allowed rate. The width and the generation of "
            "the link set the allowed rate.",
        ),
        Dial(
            "nvlink_a_minute", 1.0, 0.1, 1e6,
            "At least this many NVLink replays and recoveries per minute are an alarm.",
        ),
        Dial("nvlink_crc_a_second", 100.0, 0.1, 1e9, "At least this many NVLink CRC errors per second are a suspect."),
        Dial(
            "beside_s", 60.0, 0.0, 3600.0,
            "gputop does not report an Xid if another Xid at most this long before or after it is the cause.",
        ),
        Dial(
            "awake_pstate", 2.0, 0.0, 15.0,
            "gputop judges a PCIe link only if the P-state number of the GPU is at most this. In higher P-states "
            "the GPU saves power.",
        ),
    ),
    is_instant=True,
)  # fmt: skip


class HardwareDetector:
    """Checks each GPU's state, Xids, memory and links."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._state = StateWatch(dials)
        self._watches = (XidWatch(dials), MemoryWatch(dials), LinkWatch(dials))

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per fault."""
        yield from self._state.detect(context)
        for watch in self._watches:
            yield from watch.detect(context)
