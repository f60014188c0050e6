"""Lost and hung GPUs, and recovery actions that the driver names."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.counters import EachGpu
from gputop.core.detectors.subjects import gpu_claim, gpu_subject
from gputop.core.model.catalogue import MEMORY_USED, MIG_MODE, MIG_MODE_PENDING, RECOVERY_ACTION
from gputop.core.model.finding import Evidence, Stage, Subject
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Gpu, GpuState
from gputop.core.model.units import duration_text

_USED_BYTES: Final = 2**29  # a GPU with more used memory was in use
_HUNG_AFTER_S: Final = 3.0  # of silence, until a sample calls a GPU hung
_REMEDIES: Final = {
    "reset GPU": "End its processes, then: sudo nvidia-smi --gpu-reset -i {n}",
    "drain and reset": "Let its jobs end and start no new ones, then: sudo nvidia-smi --gpu-reset -i {n}",
    "drain P2P": "Stop jobs that use it together with other GPUs (nvidia-smi topo -p2p r); single-GPU jobs may run.",
    "reset bus": "End its processes, then: sudo nvidia-smi --gpu-reset -i {n}",
    "recover IMEX domain": "Restart the IMEX service of the domain: sudo systemctl restart nvidia-imex",
}
_REBOOT: Final = "If that does not help, drain the machine and reboot it."
_HOST: Final = Subject(label="this machine")


class _Silence:
    """Since when a GPU has not responded."""

    def __init__(self) -> None:
        self.since_s: float | None = None

    def lasts_s(self, now_s: float, *, is_silent: bool) -> float:
        """Return the watched seconds without a response."""
        if not is_silent:
            self.since_s = None
            return 0.0
        self.since_s = now_s if self.since_s is None else self.since_s
        return now_s - self.since_s + _HUNG_AFTER_S


class StateWatch:
    """Checks the state of GPUs and driver."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._alarm_s = dials["hung_alarm_s"]
        self._silences = EachGpu(_Silence)
        self._lost: dict[str, tuple[Gpu, float]] = {}
        self._unlisted_s = dials["unlisted_s"]
        self._listed: dict[str, tuple[Gpu, float]] = {}

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per GPU in trouble, and about what cannot be read."""
        yield from self._missing(context)
        for gpu in context.sample.gpus:
            silent_s = self._silences.of(gpu.uuid, context.now_s).lasts_s(
                context.now_s, is_silent=gpu.state is GpuState.HUNG
            )  # fmt: skip
            if gpu.state is GpuState.OK:
                self._listed[gpu.uuid] = (gpu, context.now_s)
            else:
                _, since_s = self._lost.setdefault(gpu.uuid, (gpu, context.now_s))
            if gpu.state is GpuState.LOST:
                yield _lost(gpu, since_s)
            elif gpu.state is GpuState.HUNG:
                yield self._hung("gpu.hung", gpu_subject(gpu), silent_s)
            else:
                yield from _recovery(gpu)
                yield from _mig(gpu)
        yield from self._unlisted(context)
        self._silences.forget(context.now_s)
        yield from self._machine(context)

    def _missing(self, context: Context) -> Iterator[Claim]:
        """Return a claim per lost GPU that the driver no longer lists; it is lost until it is back."""
        for uuid, (gpu, since_s) in tuple(self._lost.items()):
            now = context.gpus.get(uuid)
            if now is None:
                yield _lost(gpu, since_s)
            elif now.state is GpuState.OK:
                del self._lost[uuid]

    def _unlisted(self, context: Context) -> Iterator[Claim]:
        """Return a claim per GPU that is missing from the list of the driver, while the driver lists others."""
        for uuid, (gpu, seen_s) in tuple(self._listed.items()):
            if uuid in context.gpus or uuid in self._lost or not context.sample.gpus:
                continue
            if context.now_s - seen_s >= self._unlisted_s:
                yield _gone(gpu, seen_s)

    def _machine(self, context: Context) -> Iterator[Claim]:
        is_silent = context.sample.driver.missing.get("version") is Missing.HUNG
        silent_s = self._silences.of("driver", context.now_s).lasts_s(context.now_s, is_silent=is_silent)
        if is_silent:
            yield self._hung("driver.hung", _HOST, silent_s)
        if context.sample.problems:
            yield Claim(
                code="reading.incomplete",
                stage=Stage.SUSPECT,
                subject=_HOST,
                summary="; ".join(context.sample.problems),
                remedy="Values may be old and findings may be missing. See which processes wait, without ps, which may "
                "hang too: grep -s State:.D /proc/[0-9]*/status",
            )

    def _hung(self, code: str, subject: Subject, silent_s: float) -> Claim:
        return Claim(
            code=code,
            stage=Stage.ALARM if silent_s >= self._alarm_s else Stage.SUSPECT,
            subject=subject,
            summary=f"the driver has not responded for {duration_text(silent_s)}",
            evidence=(Evidence("silent_s", round(silent_s, 1), f"not responded for {duration_text(silent_s)}"),),
            remedy="Look for Xids: sudo dmesg | grep -i xid. If it continues, reboot: a process in state D cannot "
            "be killed.",
        )


def _lost(gpu: Gpu, since_s: float) -> Claim:
    claim = gpu_claim(
        gpu, "gpu.lost", Stage.ALARM, "lost: the GPU no longer responds; it fell off the bus or needs a reset",
        Evidence("gpu_state", GpuState.LOST.value, "the driver reports that it is lost"),
        f"See why: sudo dmesg | grep -i xid. Then: sudo nvidia-smi --gpu-reset -i {{n}}. {_REBOOT}",
    )  # fmt: skip
    return replace(claim, began_s=since_s)


def _gone(gpu: Gpu, seen_s: float) -> Claim:
    is_used = (gpu[MEMORY_USED] or 0) >= _USED_BYTES
    claim = gpu_claim(
        gpu, "gpu.lost", Stage.ALARM if is_used else Stage.SUSPECT,
        "lost: the driver no longer lists the GPU; it fell off the bus, or it was detached",
        Evidence("is_listed", False, "the driver lists other GPUs, but not this one"),
        f"See why: sudo dmesg | grep -i -e xid -e 'fallen off the bus'. {_REBOOT} If it was detached: `m` mutes this.",
    )  # fmt: skip
    return replace(claim, began_s=seen_s)


def _recovery(gpu: Gpu) -> Iterator[Claim]:
    action = gpu[RECOVERY_ACTION]
    if action is None or action == "none":
        return
    evidence = Evidence("recovery_action", action, f"recovery action: {action}")
    remedy = _REMEDIES.get(action, "Drain the machine, then: sudo reboot")
    yield gpu_claim(
        gpu, "gpu.recovery", Stage.ALARM, f"the driver requests a recovery action: {action}", evidence, remedy
    )


def _mig(gpu: Gpu) -> Iterator[Claim]:
    now, then = gpu[MIG_MODE], gpu[MIG_MODE_PENDING]
    if now is None or then is None or now is then:
        return
    yield gpu_claim(
        gpu, "mig.pending", Stage.OBSERVATION,
        f"MIG is {'on' if now else 'off'}, and will be {'on' if then else 'off'} after the next reset",
        Evidence("mig_mode_pending", then, "the pending mode differs"),
        "When nothing runs on the GPU, reset it: sudo nvidia-smi --gpu-reset -i {n}",
    )  # fmt: skip
