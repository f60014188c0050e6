"""The greeting of a remote sampler, its clock, and the answers in place of one that does not know a command."""

from typing import Final, get_args

from msgspec import Struct

from gputop.core.insight.explanation import Explanation
from gputop.core.inspection.inspection import Inspection
from gputop.core.mig.answers import MigBox
from gputop.core.model.sample import SCHEMA_VERSION
from gputop.core.protocol.command import Command, Explain, Inspect, ReadMig, ReadStatus
from gputop.core.protocol.process_status import ProcessStatuses

COMMANDS: Final = tuple(str(kind.__struct_config__.tag) for kind in get_args(Command))


class Hello(Struct, frozen=True, kw_only=True, tag_field="answer", tag="hello"):
    """The first line of a remote sampler.

    ``version``: of its gputop; ``commands``: the tags of those that it knows. ``user``: the one whose rights it has;
    None means unknown. ``refusal``: why it refuses all changes; empty if it does not.
    """

    version: str = ""
    schema_version: int = SCHEMA_VERSION
    commands: tuple[str, ...] = COMMANDS
    user: str | None = None
    refusal: str = ""


class Echo(Struct, frozen=True, kw_only=True, tag_field="answer", tag="echo"):
    """The answer to a `Beat`. ``sent_s``: of the beat; ``time_s``: the clock of the host, seconds since the epoch."""

    sent_s: float
    time_s: float


def is_known(command: Command, hello: Hello) -> bool:
    """Return whether a sampler knows a command."""
    return command.__struct_config__.tag in hello.commands


def unknown(command: Command, why: str) -> Inspection | Explanation | ProcessStatuses | MigBox | None:
    """Return the answer to a question that the sampler does not know; None for a command without an answer."""
    match command:
        case Inspect(id=id_, pid=pid):
            return Inspection(id=id_, pid=pid, problem=why)
        case Explain(id=id_, members=members):
            return Explanation(id=id_, members=members, is_complete=True, problem=why)
        case ReadStatus(id=id_):
            return ProcessStatuses(id=id_, statuses=())
        case ReadMig(id=id_):
            return MigBox(id=id_, problem=why)
        case _:
            return None
