"""Changes that undo other changes, from the values before that an outcome reports."""

from collections.abc import Callable, Sequence

from gputop.core.protocol.command import Change, IoClass, Renice, SetAffinity, SetIoClass, Target
from gputop.core.protocol.outcome import Outcome, Status
from gputop.ui.input.cpus import parse_cpus


def undo_changes(change: Change | None, outcome: Outcome, next_id: Callable[[], str]) -> tuple[Change, ...]:
    """Return the changes that bring the values before back, one for each value; empty if there are none."""
    if not isinstance(change, Renice | SetIoClass | SetAffinity):
        return ()
    targets = {(one.pid, one.start_ticks): one for one in change.targets}
    by_value: dict[str, list[Target]] = {}
    for one in outcome.results:
        target = targets.get((one.pid, one.start_ticks))
        if one.status is Status.DONE and one.before not in {None, one.after} and target is not None:
            by_value.setdefault(str(one.before), []).append(target)
    return tuple(_to(change, value, tuple(held), next_id()) for value, held in by_value.items())


def needs_root(undo: Sequence[Change], outcome: Outcome) -> bool:
    """Return whether an undo raises a priority, which the kernel refuses to users without the right."""
    after = {(one.pid, one.start_ticks): one.after for one in outcome.results}
    return any(
        isinstance(change, Renice)
        and any(change.nice < int(after[one.pid, one.start_ticks] or 0) for one in change.targets)
        for change in undo
    )


def _to(change: Renice | SetIoClass | SetAffinity, value: str, targets: tuple[Target, ...], id_: str) -> Change:
    """Return a change to a value, which is in the words of the outcome."""
    match change:
        case Renice():
            return Renice(id=id_, nice=int(value), targets=targets)
        case SetIoClass():
            name, _, level = value.partition(" ")
            return SetIoClass(id=id_, io_class=IoClass(name), level=int(level or 0), targets=targets)
        case SetAffinity():
            return SetAffinity(id=id_, cpus=parse_cpus(value), targets=targets)
