"""Examples of findings and alerts."""

from typing import Any

from examples import NOW, frame

from gputop.core.model.finding import Finding, Stage, Subject
from gputop.core.model.sample import Frame
from gputop.core.notification.alert import Alert, alert_of


def finding(code: str = "gpu.lost", gpu: str | None = "GPU-0", label: str = "GPU 0", **fields: Any) -> Finding:
    given = {"summary": "no longer responds", "remedy": "Reset it.", "since_s": NOW, "stage_since_s": NOW}
    subject = fields.pop("subject", Subject(label=label, gpu=gpu))
    return Finding(code=code, stage=fields.pop("stage", Stage.ALARM), subject=subject, **{**given, **fields})


def with_findings(*findings: Finding, time_s: float = NOW) -> Frame:
    return frame(findings=findings, time_s=time_s)


def alert(code: str = "gpu.lost", **fields: Any) -> Alert:
    return alert_of(finding(code, **fields), frame())
