"""Alert: a finding as receivers outside of gputop know it, with the labels that are its identity."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.finding import Finding, Stage, further_evidence
from gputop.core.model.sample import Frame
from gputop.core.notification.notification import Event, Notification
from gputop.core.text.text import excerpt

_MOST_TEXT: Final = 2000
_SEVERITIES: Final = {Stage.OBSERVATION: "info", Stage.SUSPECT: "warning", Stage.ALARM: "critical"}
_OFFSET, _PRIME, _64_BITS, _GAP = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1, 0xFF


class Alert(Struct, frozen=True, kw_only=True):
    """A finding with its labels. Times are seconds since the epoch; ``ends_s``: None while it lasts.

    ``title``: in gputop's own words and numbers. ``summary`` and ``description`` contain words of others, masked and
    clean.
    """

    labels: Mapping[str, str]
    title: str
    summary: str
    description: str
    code: str
    stage: Stage
    host: str
    starts_s: float
    ends_s: float | None = None
    gpus: tuple[int, ...] = ()
    pids: tuple[int, ...] = ()

    @property
    def key(self) -> tuple[tuple[str, str], ...]:
        """Return the identity: the labels, as in Alertmanager."""
        return tuple(sorted(self.labels.items()))

    @property
    def fingerprint(self) -> str:
        """Return the number that Alertmanager gives to the labels: FNV-1a of names and values."""
        hashed = _OFFSET
        for pair in self.key:
            for word in pair:
                for byte in (*word.encode("utf-8", "replace"), _GAP):
                    hashed = (hashed ^ byte) * _PRIME & _64_BITS
        return f"{hashed:016x}"

    @property
    def is_over(self) -> bool:
        """Return whether it has ended."""
        return self.ends_s is not None

    def ended(self, time_s: float) -> "Alert":
        """Return it with its end."""
        return replace(self, ends_s=max(time_s, self.starts_s))

    @property
    def notification(self) -> Notification:
        """Return it for the desktop and a command of the user."""
        return Notification(
            event=Event.FINDING,
            title=f"{'over: ' if self.is_over else ''}{self.title}",
            text=f"{'over: ' if self.is_over else ''}{self.summary}",
            host=self.host,
            time_s=self.starts_s if self.ends_s is None else self.ends_s,
            gpus=self.gpus,
            pids=self.pids,
            code=self.code,
            stage="resolved" if self.is_over else self.stage.value,
        )


def alerts_of(frame: Frame, stage: Stage, codes: Sequence[str] = ()) -> list[Alert]:
    """Return the findings of a frame from this stage on, and with these codes if any are given."""
    wanted = (one for one in frame.findings if one.stage.rank >= stage.rank and _is_among(one.code, codes))
    return list({alert.key: alert for alert in (alert_of(one, frame) for one in wanted)}.values())


def alert_of(finding: Finding, frame: Frame) -> Alert:
    """Return the alert of a finding."""
    subject, host, code = finding.subject, excerpt(frame.host.name), excerpt(finding.code)
    gpus = tuple(gpu.index for gpu in frame.gpus if gpu.uuid == subject.gpu)
    pid = subject.process.pid if subject.process else None
    labels = {
        "alertname": code,
        "severity": _SEVERITIES[finding.stage],
        "host": host,
        "job": "gputop",
        "gpu": str(gpus[0]) if gpus else "",
        "UUID": subject.gpu or "",
        "GPU_I_ID": "" if subject.gpu_instance is None else str(subject.gpu_instance),
        "pid": "" if pid is None else str(pid),
        "gpu_job": subject.job or "",
    }
    if not any((subject.gpu, pid, subject.job)):
        labels["subject"] = subject.label
    where = f": process {pid}" if pid is not None else f": GPU {gpus[0]}" if gpus else ""
    return Alert(
        labels={name: excerpt(value) for name, value in labels.items() if value},
        title=f"{finding.stage.value} {code}{where}",
        summary=excerpt(f"{subject.label}: {finding.summary}", _MOST_TEXT),
        description=excerpt(_description(finding), _MOST_TEXT),
        code=code,
        stage=finding.stage,
        host=host,
        starts_s=finding.since_s,
        gpus=gpus,
        pids=() if pid is None else (pid,),
    )


def _description(finding: Finding) -> str:
    evidence = "; ".join(further_evidence(finding))
    return " ".join(filter(None, (evidence and f"{evidence}.", finding.remedy)))


def _is_among(code: str, codes: Iterable[str]) -> bool:
    named = tuple(codes)
    return not named or any(code == one or code.startswith(f"{one}.") for one in named)
