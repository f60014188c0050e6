"""MIG plan, apply and restore: from a request to a plan, and from a plan to the driver."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from gputop.app.backend.operations.choice import open_control
from gputop.app.backend.operations.operations import MigReader
from gputop.app.backend.operations.read_only import ReadOnlyControl
from gputop.app.control.mig.requested import Answers, MigRequest, requested, restored
from gputop.app.control.mig.survey import chosen, open_mig, warn_of_rights
from gputop.app.control.process_change import new_id
from gputop.app.errors import NONE, OK, SOME, BadRequestError
from gputop.app.interrupts import interruptible
from gputop.app.terminal import Person
from gputop.core.mig.answers import MigProgress
from gputop.core.mig.explain import NoPlan
from gputop.core.mig.model import MigGpu
from gputop.core.mig.steps import Plan
from gputop.core.mig.text import holder_lines, no_plan_lines, plan_lines, plan_notes, smi_lines, use_lines
from gputop.core.protocol.command import ChangeMig
from gputop.core.protocol.outcome import Outcome
from gputop.core.text.text import clean

_AFTER: Final = (
    "# update the programs that keep a list of devices, if you use them:",
    "#   sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
    "#   sudo systemctl restart nvidia-dcgm dcgm-exporter slurmd",
    "#   kubectl -n gpu-operator rollout restart daemonset/nvidia-device-plugin-daemonset",
)

Ask = Callable[[Sequence[MigGpu]], Answers]


class Answer(Struct, frozen=True, kw_only=True):
    """The JSON of `gputop mig plan` for a GPU: a plan, or the reason why there is none."""

    index: int
    uuid: str
    plan: Plan | None = None
    impossible: NoPlan | None = None
    notes: tuple[str, ...] = ()
    nvidia_smi: tuple[str, ...] = ()


def plan(request: MigRequest, person: Person) -> int:
    """Show the plan; return the exit status."""
    reader = open_mig(request.backend)
    answers = requested(request, chosen(request.backend.selection.gpus, reader.gpus()))
    if request.is_json:
        from msgspec.json import encode

        person.show([encode([_json(gpu, found) for gpu, found in answers]).decode()])
    else:
        _show(answers, reader, person)
        person.show(_smi(answers))
    return _status(answers)


def apply(request: MigRequest, person: Person) -> int:
    """Execute the request; return the exit status."""

    def ask(gpus: Sequence[MigGpu]) -> Answers:
        capable = [gpu for gpu in gpus if gpu.is_on is not None]
        if request.layout and not request.backend.selection.gpus and len(capable) > 1:
            raise BadRequestError(f"no GPU selected: add -i {capable[0].index}, or -i all")
        return requested(request, gpus)

    return _carry_out(request, ask, person)


def restore(request: MigRequest, person: Person) -> int:
    """Go back to the checkpoint; return the exit status."""
    return _carry_out(request, lambda gpus: restored(request, gpus), person)


def _carry_out(request: MigRequest, ask: Ask, person: Person) -> int:
    """Execute the answers, in two rounds if the driver reports the profiles only while MIG is enabled."""
    reader, names = open_mig(request.backend), request.backend.selection.gpus
    answers = ask(chosen(names, reader.gpus()))
    status = _round(request, answers, reader, person)
    if status != OK or request.is_dry or not any(gpu.is_silent for gpu, _ in answers):
        return status
    again = ask(chosen(names, reader.gpus()))
    if all(isinstance(found, Plan) and not found.steps for _, found in again):
        return status
    return _round(request, again, reader, person)


def _round(request: MigRequest, answers: Answers, reader: MigReader, person: Person) -> int:
    """Show, ask, change, and report the result and the next steps."""
    _show(answers, reader, person)
    plans = tuple(found for _, found in answers if isinstance(found, Plan) and found.steps)
    if _status(answers) != OK or not plans or request.is_dry:
        return _status(answers)
    if not person.can_answer():
        raise BadRequestError("no terminal to confirm on: add --yes to go ahead, or --dry-run to see the plan")

    def notify(progress: MigProgress) -> None:
        person.show([progress.line])

    control = open_control(request.backend, frozenset({os.getpid()}), progress=notify)
    if not isinstance(control, ReadOnlyControl) and not person.agrees("Apply this plan?"):
        person.show(["Nothing was changed."])
        return NONE
    with interruptible():
        outcome = control.execute(ChangeMig(id=new_id(), plans=plans, is_forced=request.is_forced))
    person.show(_ended(outcome))
    if outcome.all_worked:
        changed = {each.gpu for each in plans}
        person.show([line for gpu in reader.gpus() if gpu.uuid in changed for line in use_lines(gpu)])
        person.show(_AFTER)
        return OK
    return NONE if outcome.none_worked and not _waits(outcome) else SOME


def _ended(outcome: Outcome) -> list[str]:
    from gputop.report.change import ended
    from gputop.report.grid import look

    _, style = look(sys.stdout, os.environ)
    return list(ended(outcome, style))


def _show(answers: Answers, reader: MigReader, person: Person) -> None:
    for gpu, found in answers:
        lines = plan_lines(gpu, found) if isinstance(found, Plan) else no_plan_lines(found)
        person.show([clean(line) for line in lines])
        if isinstance(found, Plan) and found.changes_mode:  # the mode changes only if no process has the GPU open
            person.show([f"  ! {clean(line)}" for line in holder_lines(reader.holders(gpu.uuid))])
    warn_of_rights([gpu for gpu, _ in answers], person)
    for warning in reader.warnings():
        person.warn(f"! {warning}")


def _smi(answers: Answers) -> list[str]:
    """Return the equivalent commands of nvidia-smi."""
    lines = [line for gpu, found in answers if isinstance(found, Plan) for line in smi_lines(gpu.index, found.steps)]
    return ["the same with nvidia-smi (ID: of the instance that was just created):", *lines] if lines else []


def _json(gpu: MigGpu, found: Plan | NoPlan) -> Answer:
    if isinstance(found, NoPlan):
        return Answer(index=gpu.index, uuid=gpu.uuid, impossible=found)
    commands, notes = tuple(smi_lines(gpu.index, found.steps)), tuple(plan_notes(gpu, found))
    return Answer(index=gpu.index, uuid=gpu.uuid, plan=found, notes=notes, nvidia_smi=commands)


def _status(answers: Answers) -> int:
    possible = [isinstance(found, Plan) for _, found in answers]
    if not any(possible):
        return NONE
    return OK if all(possible) else SOME


def _waits(outcome: Outcome) -> bool:
    return any(result.status.value == "pending" for result in outcome.results)
