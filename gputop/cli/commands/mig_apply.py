"""gputop mig plan, apply and restore: from what is asked for to a plan, and from there to the driver."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from gputop.cli.args.exits import BAD_INPUT, OK, fail
from gputop.cli.args.interrupts import interruptible
from gputop.cli.backend.control import Shut, opened_door
from gputop.cli.commands.mig_file import requested, restored
from gputop.cli.commands.mig_machine import partitioned
from gputop.cli.commands.mig_show import chosen, tell_rights
from gputop.cli.commands.process_change import NONE, SOME, Caller, new_id
from gputop.core.mig.answers import MigProgress
from gputop.core.mig.explain import NoPlan
from gputop.core.mig.model import MigGpu
from gputop.core.mig.steps import Plan
from gputop.core.mig.text import holder_lines, no_plan_lines, plan_lines, plan_notes, smi_lines, use_lines
from gputop.core.protocol.command import ChangeMig
from gputop.core.protocol.outcome import Outcome
from gputop.core.text.text import clean
from gputop.machine.mig.assembly import Partitioning

_AFTER: Final = (
    "# tell those who keep a list of devices, where they are in use:",
    "#   sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
    "#   sudo systemctl restart nvidia-dcgm dcgm-exporter slurmd",
    "#   kubectl -n gpu-operator rollout restart daemonset/nvidia-device-plugin-daemonset",
)

Answers = list[tuple[MigGpu, Plan | NoPlan]]


class Answer(Struct, frozen=True, kw_only=True):
    """The JSON of `gputop mig plan` for a GPU: a plan, or why there is none."""

    index: int
    uuid: str
    plan: Plan | None = None
    impossible: NoPlan | None = None
    notes: tuple[str, ...] = ()
    nvidia_smi: tuple[str, ...] = ()


def plan(options: argparse.Namespace) -> int:
    """Say what would be done."""
    held = partitioned(options)
    answers = requested(options, chosen(options, held.reader.all()))
    if options.json:
        from msgspec.json import encode

        print(encode([_json(gpu, found) for gpu, found in answers]).decode())
    else:
        _show(answers, held)
        _teach(answers)
    return _status(answers)


def apply(options: argparse.Namespace) -> int:
    """Carry out what is asked for."""

    def ask(gpus: Sequence[MigGpu]) -> Answers:
        capable = [gpu for gpu in gpus if gpu.is_on is not None]
        if options.request and not options.gpu and len(capable) > 1:
            fail(BAD_INPUT, f"which GPU? Name it: -i {capable[0].index}, or -i all")
        return requested(options, gpus)

    return _carry_out(options, ask, partitioned(options))


def restore(options: argparse.Namespace) -> int:
    """Go back to a checkpoint."""
    return _carry_out(options, lambda gpus: restored(options, gpus), partitioned(options))


def _carry_out(options: argparse.Namespace, ask: Callable[[Sequence[MigGpu]], Answers], held: Partitioning) -> int:
    """Carry out what is asked for: in two rounds where the driver tells the profiles only when MIG is on."""
    answers = ask(chosen(options, held.reader.all()))
    status = _round(options, answers, held)
    if status != OK or options.dry_run or not any(gpu.is_silent for gpu, _ in answers):
        return status
    again = ask(chosen(options, held.reader.all()))
    if all(isinstance(found, Plan) and not found.steps for _, found in again):
        return status
    return _round(options, again, held)


def _round(options: argparse.Namespace, answers: Answers, held: Partitioning) -> int:
    """Show, ask, do, say how it ended, and what comes next."""
    _show(answers, held)
    plans = tuple(found for _, found in answers if isinstance(found, Plan) and found.steps)
    if _status(answers) != OK or not plans or options.dry_run:
        return _status(answers)
    _check(options)
    door = opened_door(options, frozenset({os.getpid()}), progress=_tell)
    caller = Caller(is_sure=options.yes)
    if not isinstance(door, Shut) and not caller.agrees("Carry this out?"):
        caller.tell(["Nothing was done."])
        return NONE
    with interruptible():
        outcome = door.execute(ChangeMig(id=new_id(), plans=plans, is_forced=options.force))
    _tell_outcome(outcome)
    if outcome.all_worked:
        _tell_next([gpu for gpu in held.reader.all() if gpu.uuid in {each.gpu for each in plans}])
        return OK
    return NONE if outcome.none_worked and not _waits(outcome) else SOME


def _check(options: argparse.Namespace) -> None:
    if not (options.yes or options.dry_run or (sys.stdin.isatty() and sys.stderr.isatty())):
        fail(BAD_INPUT, "there is no terminal to ask on: add --yes to do it, --dry-run to see the plan")


def _show(answers: Answers, held: Partitioning) -> None:
    for gpu, found in answers:
        lines = plan_lines(gpu, found) if isinstance(found, Plan) else no_plan_lines(found)
        print("\n".join(clean(line) for line in lines))
        if isinstance(found, Plan) and found.changes_mode:
            _show_holders(gpu, held)
    tell_rights([gpu for gpu, _ in answers])
    for warning in held.warnings():
        print(f"! {warning}", file=sys.stderr)
    sys.stdout.flush()


def _teach(answers: Answers) -> None:
    """Print what would do the same without gputop."""
    lines = [line for gpu, found in answers if isinstance(found, Plan) for line in smi_lines(gpu.index, found.steps)]
    if lines:
        print("\n".join(["the same with nvidia-smi (ID: of the instance that was just created):", *lines]))


def _show_holders(gpu: MigGpu, held: Partitioning) -> None:
    """Say who has the GPU open: the mode cannot change before they have let go."""
    for line in holder_lines(held.holders(gpu.uuid)):
        print(f"  ! {clean(line)}")


def _tell(progress: MigProgress) -> None:
    print(progress.line, flush=True)


def _tell_outcome(outcome: Outcome) -> None:
    from gputop.report.change import ended
    from gputop.report.grid import look

    _, style = look(sys.stdout, os.environ)
    print("\n".join(ended(outcome, style)))


def _tell_next(gpus: Sequence[MigGpu]) -> None:
    lines = [line for gpu in gpus for line in use_lines(gpu)]
    print("\n".join([*lines, *_AFTER]))


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
