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
    question="Does the hardware or the driver fail?",
    codes={
        "gpu.lost": "The GPU no longer responds: it fell off the bus or needs a reset.",
        "gpu.hung": "The driver does not respond for this GPU.",
        "gpu.recovery": "The driver requests an action to repair the GPU, such as a reset.",
        "driver.hung": "The driver does not respond at all.",
        "reading.incomplete": "Some values of the machine cannot be read.",
        "mig.pending": "The MIG mode changes at the next reset.",
        "xid.grave": "The driver reported a serious error. Act before you use the GPU again.",
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
        "pcie.replays": "PCIe packets are sent again more often than on a good link.",
        "nvlink.down": "An NVLink went down, or this GPU has fewer working links than others of its model.",
        "nvlink.errors": "An NVLink has errors: packets are sent again, the link recovers, or checksums are wrong.",
    },
    remedies={
        "gpu.lost": "See why: `sudo dmesg | grep -i xid`. Reset it: `sudo nvidia-smi --gpu-reset -i N`. Or reboot.",
        "gpu.hung": "See `sudo dmesg | grep -i xid`. If it continues, reboot. Its processes cannot be killed.",
        "gpu.recovery": "Do what it requests. Mostly a reset: `sudo nvidia-smi --gpu-reset -i N` when the GPU is idle.",
        "driver.hung": "See `sudo dmesg | grep -i xid`. If it continues, reboot.",
        "reading.incomplete": "Values may be old. See which processes wait: `grep -s State:.D /proc/[0-9]*/status`.",
        "mig.pending": "When nothing runs on the GPU, reset it: `sudo nvidia-smi --gpu-reset -i N`.",
        "xid.grave": "Follow the advice of the finding. `docs/doctor.md` explains all Xids.",
        "xid.application": "Check the program first: `sudo dmesg | grep -i xid` names its pid.",
        "xid.note": "Do nothing. To see the event: `sudo dmesg | grep -i xid`.",
        "ecc.uncorrected": "Do not trust results from this GPU. Reset it: `sudo nvidia-smi --gpu-reset -i N`.",
        "ecc.corrected": "No data was lost. Check again tomorrow: `gputop doctor`.",
        "remap.failed": "Take the GPU out of service. Collect a report for the vendor: `nvidia-bug-report.sh`.",
        "remap.pending": "When nothing runs on the GPU, reset it: `sudo nvidia-smi --gpu-reset -i N`.",
        "remap.many": "Take the GPU out of service. Collect a report for the vendor: `nvidia-bug-report.sh`.",
        "retired.pending": "When nothing runs on the GPU, reset it: `sudo nvidia-smi --gpu-reset -i N`.",
        "retired.many": "Plan to replace the board. To see the pages: `nvidia-smi -q -d PAGE_RETIREMENT -i N`.",
        "pcie.link": "Check seating, riser and BIOS. `sudo lspci -vv` shows the link in the lines with LnkSta.",
        "pcie.replays": "Reseat the board or its riser. See the errors: `sudo dmesg | grep -i aer`.",
        "nvlink.down": "See which: `nvidia-smi nvlink -s -i N`. Check `systemctl status nvidia-fabricmanager`.",
        "nvlink.errors": "See which: `nvidia-smi nvlink -e -i N`. Check both ends of the link.",
    },
    dials=(
        Dial("hung_alarm_s", 10.0, 3.0, 3600.0, "If the driver has not answered for this time, that is an alarm."),
        Dial(
            "unlisted_s", 30.0, 5.0, 3600.0,
            "gputop reports a GPU that the driver has not listed for this time, while it lists other GPUs.",
        ),
        Dial("grave_xid_s", 3600.0, 60.0, 604800.0, "gputop shows a serious Xid (xid.grave) for this time."),
        Dial("xid_s", 600.0, 10.0, 604800.0, "gputop shows any other Xid for this time."),
        Dial(
            "corrected_a_day", 100.0, 1.0, 1e9,
            "If the GPU has more corrected memory errors per day than this, that is an observation.",
        ),
        Dial(
            "most_remaps", 512.0, 1.0, 1e6,
            "If at least this many rows were replaced after uncorrected errors, that is an alarm.",
        ),
        Dial("many_pages", 15.0, 1.0, 1e6, "If at least this many pages are retired, that is an observation."),
        Dial("most_pages", 63.0, 1.0, 1e6, "If at least this many pages are retired, that is an alarm."),
        Dial(
            "busy_percent", 50.0, 1.0, 100.0,
            "gputop checks a PCIe link only while the GPU utilization is at least this. Idle GPUs slow their links "
            "down.",
        ),
        Dial(
            "link_s", 60.0, 10.0, 86400.0,
            "gputop reports a PCIe link that was slow for this time while the GPU was busy.",
        ),
        Dial(
            "replay_factor", 1.0, 0.01, 1e6,
            "gputop reports PCIe replays if there are more than the allowed rate. With 2, it allows twice that rate. "
            "The rate depends on the width and the generation of the link.",
        ),
        Dial(
            "nvlink_a_minute", 1.0, 0.1, 1e6,
            "If the NVLinks have at least this many replays and recoveries per minute, that is an alarm.",
        ),
        Dial(
            "nvlink_crc_a_second", 100.0, 0.1, 1e9,
            "If the NVLinks have at least this many CRC errors per second, that is a suspect.",
        ),
        Dial(
            "beside_s", 60.0, 0.0, 3600.0,
            "One fault can cause several Xids. gputop reports only the cause if the others came within this time "
            "before or after it.",
        ),
        Dial(
            "awake_pstate", 2.0, 0.0, 15.0,
            "gputop checks a PCIe link only in this P-state or a faster one (P0 is the fastest). In slower ones the "
            "GPU saves power.",
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
