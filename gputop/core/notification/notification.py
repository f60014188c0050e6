"""Condition that the user waits for, and the notification that is sent once when it holds."""

from enum import Enum
from typing import Final

from msgspec import Struct

from gputop.core.model.process_id import ProcessId

_MOST_TEXT: Final = 2000


class Event(str, Enum):
    """The kind of a condition."""

    FREE = "free"
    ENDED = "ended"
    FINDING = "finding"


class Condition(Struct, frozen=True, kw_only=True):
    """A condition about a GPU (by uuid), processes or a job (by key). Without any of these: about all GPUs.

    ``plain``: the subject in gputop's own words and numbers, such as ``process 4711``. ``label``: the words of others
    about it, such as a command line, clean and masked.
    """

    event: Event
    plain: str
    label: str = ""
    gpu: str | None = None
    processes: tuple[ProcessId, ...] = ()
    job: str | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Return the identity, which does not depend on words."""
        return (self.event, self.gpu, self.job, () if self.job else self.processes)

    @property
    def text(self) -> str:
        """Return the condition as a clause: GPU 3 is free."""
        return self.short + (f": {self.label}" if self.label else "")

    @property
    def short(self) -> str:
        """Return the condition in gputop's own words and numbers."""
        match self.event:
            case Event.FREE:
                return f"{self.plain} is free"
            case Event.ENDED:
                return f"{self.plain} {'have' if len(self.processes) > 1 and self.job is None else 'has'} ended"
            case Event.FINDING:
                return f"there is a new finding about {self.plain}"


class Notification(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A condition that holds. It is also the JSON that a command of the user reads.

    ``title``: in gputop's own words and numbers; ``text``: the whole message, with words of others, clean and masked.
    ``ran_s``: since the first process started; ``peak_gpu_memory_bytes``: the most that all of them held together while
    gputop waited. ``code``, ``stage``: of a finding.
    """

    event: Event
    title: str
    text: str
    host: str
    time_s: float
    gpus: tuple[int, ...] = ()
    pids: tuple[int, ...] = ()
    job: str = ""
    user: str = ""
    command: str = ""
    ran_s: float | None = None
    peak_gpu_memory_bytes: int | None = None
    code: str = ""
    stage: str = ""

    @property
    def variables(self) -> dict[str, str]:
        """Return the facts as environment variables for a command of the user; each has a value, perhaps empty."""
        facts = {
            "EVENT": self.event.value, "TITLE": self.title, "TEXT": self.text, "HOST": self.host, "JOB": self.job,
            "GPU": " ".join(map(str, self.gpus)), "PID": " ".join(map(str, self.pids)), "USER": self.user,
            "COMMAND": self.command, "CODE": self.code, "STAGE": self.stage,
            "RAN_SECONDS": "" if self.ran_s is None else f"{self.ran_s:.0f}",
            "PEAK_GPU_MEMORY_BYTES": "" if self.peak_gpu_memory_bytes is None else str(self.peak_gpu_memory_bytes),
        }  # fmt: skip
        return {f"GPUTOP_{name}": value[:_MOST_TEXT] for name, value in facts.items()}
