"""The columns of the table of groups, one row each."""

from collections.abc import Sequence
from typing import Final

from gputop.core.fleet.columns import FleetColumn, names_text
from gputop.core.fleet.groups import Group
from gputop.core.model.metric import Unit
from gputop.core.model.units import NOTHING, bytes_text, percent_text, share
from gputop.core.query.vocabulary import words_of

_USES: Final = ("busy", "idle", "free", "lost", "unknown")


def _memory(group: Group) -> float | None:
    return share(group.totals.memory_used_bytes, group.totals.memory_total_bytes)


def _number(use: str) -> FleetColumn[Group]:
    return FleetColumn(
        key=use, title="?" if use == "unknown" else use.upper(), help=f"number of {use} GPUs",
        text=lambda group: str(group.totals.count(use)), sort=lambda group: group.totals.count(use),
    )  # fmt: skip


GROUP_COLUMNS: Final[tuple[FleetColumn[Group], ...]] = (
    FleetColumn(
        key="name", title="NAME", is_text=True, is_left=True, help="user, job, or what the hosts have in common",
        text=lambda group: group.name, sort=lambda group: group.name,
    ),
    FleetColumn(
        key="hosts", title="HOSTS", words=("host",), help="number of hosts",
        text=lambda group: str(len(group.members)), sort=lambda group: len(group.members),
    ),
    FleetColumn(
        key="gpus", title="GPUS", help="number of GPUs; those that a user or job holds",
        text=lambda group: str(group.totals.gpus), sort=lambda group: group.totals.gpus,
    ),
    *map(_number, _USES),
    FleetColumn(
        key="util", title="UTIL", unit=Unit.PERCENT, words=("utilization", "sm"), help="mean utilization of these GPUs",
        text=lambda group: percent_text(group.totals.utilization_percent),
        sort=lambda group: group.totals.utilization_percent,
    ),
    FleetColumn(
        key="mem", title="MEM%", unit=Unit.PERCENT, words=("memory",), help="used share of their memory",
        text=lambda group: percent_text(_memory(group)), sort=_memory,
    ),
    FleetColumn(
        key="used", title="USED", unit=Unit.BYTES, help="used memory of these GPUs",
        text=lambda group: bytes_text(group.totals.memory_used_bytes),
        sort=lambda group: group.totals.memory_used_bytes,
    ),
    FleetColumn(
        key="power", title="POWER", unit=Unit.WATTS, help="their power, if the group has whole hosts",
        text=lambda group: NOTHING if group.totals.power_w is None else f"{group.totals.power_w / 1000:,.1f}kW",
        sort=lambda group: group.totals.power_w,
    ),
    FleetColumn(
        key="users", title="USERS", is_text=True, is_left=True, words=("user",), help="users of these GPUs",
        text=lambda group: names_text(group.users), sort=lambda group: names_text(group.users),
    ),
    FleetColumn(
        key="jobs", title="JOBS", is_text=True, is_left=True, words=("job",), help="jobs on these GPUs",
        text=lambda group: names_text(group.jobs), sort=lambda group: names_text(group.jobs),
    ),
    FleetColumn(
        key="odd", title="STANDS OUT", is_text=True, is_left=True, help="a host or rank unlike the others of the job",
        text=lambda group: group.odd or group.straggler, sort=lambda group: group.odd or group.straggler,
    ),
)  # fmt: skip
GROUP_COLUMN_BY_WORD: Final = words_of(GROUP_COLUMNS)
_IF_USED: Final = frozenset({"free", "lost", "unknown"})


def shown_group_columns(groups: Sequence[Group], by: str) -> list[FleetColumn[Group]]:
    """Return the columns that say something of these groups."""
    left_out = {f"{by}s"}
    left_out |= {use for use in _IF_USED if not any(group.totals.count(use) for group in groups)}
    left_out |= {"power"} if all(group.totals.power_w is None for group in groups) else set()
    left_out |= {key for key in ("users", "jobs") if not any(getattr(group, key) for group in groups)}
    left_out |= set() if any(group.odd or group.straggler for group in groups) else {"odd"}
    return [column for column in GROUP_COLUMNS if column.key not in left_out]
