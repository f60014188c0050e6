"""Does a GPU answer? And what does the driver say must be done with it."""

from collections.abc import Iterator, Mapping
from typing import Final

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.counters import EachGpu
from gputop.core.detectors.subjects import gpu_subject
from gputop.core.model.catalogue import MIG_MODE, MIG_MODE_PENDING, RECOVERY_ACTION
from gputop.core.model.finding import Evidence, Stage, Subject
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Gpu, GpuState
from gputop.core.model.units import duration_text

_HUNG_AFTER_S: Final = 3.0  # of silence, until a sample calls a GPU hung
_REMEDIES: Final = {
    "reset GPU": "Stop what runs there, then: sudo nvidia-smi --gpu-reset -i {n}",
    "drain and reset": "Let its jobs end and give it no new ones, then: sudo nvidia-smi --gpu-reset -i {n}",
    "drain P2P": "Stop jobs on it and other GPUs together (nvidia-smi topo -p2p r); give it work of its own.",
    "reset bus": "Stop what runs there, then: sudo nvidia-smi --gpu-reset -i {n}",
    "recover IMEX domain": "Restart the IMEX service of the domain: sudo systemctl restart nvidia-imex",
}
_REBOOT: Final = "If that is not enough, drain the machine and reboot it."
_HOST: Final = Subject(label="this machine")


class _Silence:
    """Since when a GPU does not answer."""

    def __init__(self) -> None:
        self.since_s: float | None = None

    def lasts_s(self, now_s: float, *, is_silent: bool) -> float:
        """Return for how long, in seconds that were watched."""
        if not is_silent:
            self.since_s = None
            return 0.0
        self.since_s = now_s if self.since_s is None else self.since_s
        return now_s - self.since_s + _HUNG_AFTER_S


class StateWatch:
    """Looks at what is not a number."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._alarm_s = dials["hung_alarm_s"]
        self._silences = EachGpu(_Silence)

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return what is wrong with the GPUs and with the reading of the machine."""
        for gpu in context.sample.gpus:
            silent_s = self._silences.of(gpu.uuid, context.now_s).lasts_s(
                context.now_s, is_silent=gpu.state is GpuState.HUNG
            )  # fmt: skip
            if gpu.state is GpuState.LOST:
                yield _lost(gpu)
            elif gpu.state is GpuState.HUNG:
                yield self._hung("gpu.hung", gpu_subject(gpu), silent_s)
            else:
                yield from _recovery(gpu)
                yield from _mig(gpu)
        self._silences.forget(context.now_s)
        yield from self._machine(context)

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
                remedy="What is shown may be old, and findings may be missing. What waits: ps -eo pid,stat,wchan,cmd",
            )

    def _hung(self, code: str, subject: Subject, silent_s: float) -> Claim:
        return Claim(
            code=code,
            stage=Stage.ALARM if silent_s >= self._alarm_s else Stage.SUSPECT,
            subject=subject,
            summary=f"the driver has not answered for {duration_text(silent_s)}",
            evidence=(Evidence("silent_s", round(silent_s, 1), f"no answer for {duration_text(silent_s)}"),),
            remedy="Look for Xids: sudo dmesg | grep -i xid. State D cannot be killed; if it lasts, reboot.",
        )


def _lost(gpu: Gpu) -> Claim:
    return Claim(
        code="gpu.lost",
        stage=Stage.ALARM,
        subject=gpu_subject(gpu),
        summary="does not answer any more: it fell off the bus or needs a reset",
        evidence=(Evidence("gpu_state", gpu.state.value, "the driver says that it is lost"),),
        remedy=f"Look why: sudo dmesg | grep -i xid. Then: sudo nvidia-smi --gpu-reset -i {gpu.index}. {_REBOOT}",
    )


def _recovery(gpu: Gpu) -> Iterator[Claim]:
    action = gpu[RECOVERY_ACTION]
    if action is None or action == "none":
        return
    yield Claim(
        code="gpu.recovery",
        stage=Stage.ALARM,
        subject=gpu_subject(gpu),
        summary=f"the driver asks for: {action}",
        evidence=(Evidence("recovery_action", action, f"recovery action: {action}"),),
        remedy=_REMEDIES.get(action, "Drain the machine, then: sudo reboot").format(n=gpu.index),
    )


def _mig(gpu: Gpu) -> Iterator[Claim]:
    now, then = gpu[MIG_MODE], gpu[MIG_MODE_PENDING]
    if now is None or then is None or now is then:
        return
    yield Claim(
        code="mig.pending",
        stage=Stage.OBSERVATION,
        subject=gpu_subject(gpu),
        summary=f"MIG is {'on' if now else 'off'}, and will be {'on' if then else 'off'} after the next reset",
        evidence=(Evidence("mig_mode_pending", then, "the pending mode is another"),),
        remedy=f"When nothing runs there: sudo nvidia-smi --gpu-reset -i {gpu.index}",
    )
