"""The finding: what is wrong with which subject, since when, by which numbers, and what to do."""

from enum import Enum
from typing import Final

from msgspec import Struct

from gputop.core.model.metric import Unit
from gputop.core.model.process_id import ProcessId
from gputop.core.model.units import value_text


class Stage(str, Enum):
    """The weight of a finding: an observation is worth knowing, a suspect worth checking, an alarm needs action."""

    OBSERVATION = "observation"
    SUSPECT = "suspect"
    ALARM = "alarm"

    @property
    def rank(self) -> int:
        """Return 0, 1 or 2: the gravest has the highest."""
        return _RANKS[self]


_RANKS = {Stage.OBSERVATION: 0, Stage.SUSPECT: 1, Stage.ALARM: 2}


class Subject(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The subject of a finding: a process (perhaps on one GPU), a job by its key, a GPU by its uuid; else the host.

    ``label``: for people, also after the subject has exited.
    """

    label: str
    process: ProcessId | None = None
    job: str | None = None
    gpu: str | None = None
    gpu_instance: int | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Return the identity; the label counts only if there is nothing else."""
        named = (self.process, self.job, self.gpu, self.gpu_instance)
        return (self.label,) if named == _HOST else named


_HOST = (None, None, None, None)


class Evidence(Struct, frozen=True, omit_defaults=True, gc=False):
    """A number that supports a finding. ``name`` contains its unit, as in ``grown_bytes``; ``text`` is for people.

    ``normal``: the value without the problem, in the same unit: of the time before, of the other ranks or GPUs, or by
    the limits of the board. None if nothing says it.
    """

    name: str
    value: float | str | bool | None
    text: str
    normal: float | str | None = None

    @property
    def now_text(self) -> str:
        """The value with its unit."""
        return self._text(self.value)

    @property
    def normal_text(self) -> str:
        """The normal value with its unit; empty without one."""
        return "" if self.normal is None else self._text(self.normal)

    def _text(self, value: object) -> str:
        unit = "" if "_per_" in self.name else self.name.rpartition("_")[2]
        return value_text(value, _UNITS.get(unit, Unit.COUNT))


_UNITS = {
    "s": Unit.SECONDS, "bytes": Unit.BYTES, "percent": Unit.PERCENT, "w": Unit.WATTS, "hz": Unit.HERTZ,
    "c": Unit.CELSIUS,
}  # fmt: skip


def measured(name: str) -> str:
    """Return what the name of evidence measures, without its unit."""
    head, _, unit = name.rpartition("_")
    return head if unit in _UNITS and "_per_" not in name else name


class Judgement(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The statement that a `Claim` and a `Finding` share.

    ``code``: stable, such as ``leak.process``. ``confidence``: 0-1; None if the driver itself reports the fault.
    ``lacking``: missing signals. ``action``: the id of the action on the screen that helps.
    """

    code: str
    stage: Stage
    subject: Subject
    summary: str
    evidence: tuple[Evidence, ...] = ()
    remedy: str = ""
    action: str | None = None
    confidence: float | None = None
    lacking: tuple[str, ...] = ()


class Finding(Judgement, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A judgement that lasted.

    ``since_s``: when it began; ``stage_since_s``: when it reached this stage; both in seconds since the epoch.
    ``returned``: how often it returned within minutes.
    """

    since_s: float
    stage_since_s: float
    returned: int = 0

    @property
    def key(self) -> tuple[object, ...]:
        """Return the identity, which stays the same while the finding changes."""
        return (self.code, *self.subject.key)


def further_evidence(finding: Judgement) -> list[str]:
    """Return the texts of the evidence that the summary does not contain, with normal values that it lacks."""
    texts = []
    for each in finding.evidence:
        if each.normal_text and each.normal_text not in finding.summary:
            texts.append(f"{each.text}, normally {each.normal_text}")
        elif each.text not in finding.summary:
            texts.append(each.text)
    return texts


HIGH: Final = 0.85
"""The least confidence that is called high."""


def confidence_of(*weights: float) -> float:
    """Return the joint confidence of independent pieces of evidence, 0-1."""
    doubt = 1.0
    for weight in weights:
        doubt *= 1.0 - weight
    return 1.0 - doubt


def confidence_text(confidence: float | None) -> str:
    """Return low, medium or high; empty without a confidence."""
    if confidence is None:
        return ""
    return "low" if confidence < 0.6 else "medium" if confidence < HIGH else "high"
