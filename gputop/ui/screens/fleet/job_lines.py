"""The lines of the page of a job: what stands out, and a line for each rank."""

from typing import Final

from gputop.core.fleet.groups import Group
from gputop.core.fleet.model import FleetGpu
from gputop.core.fleet.outlier import LEAST_MEMBERS
from gputop.core.fleet.ranks import Rank, has_comparable_load
from gputop.core.model.load import memory_load
from gputop.core.model.units import NOTHING, percent_text
from gputop.core.text.cells import width as width_of
from gputop.core.text.fit import fit
from gputop.ui.panels.values import load_ink, meter, utilization_ink
from gputop.ui.render.line import BLANK, Line
from gputop.ui.screens.fleet.cells import gpu_cell

_NAME: Final = 12
_WIDEST_HOST: Final = 24
_NUMBERS: Final = 41  # columns of a line without host and bar
_BARS: Final = (4, 24)


def job_lines(job: Group, width: int) -> list[Line]:
    """Return the job in some lines, and its ranks."""
    hosts = max([len("HOST"), *(min(_WIDEST_HOST, width_of(rank.host)) for rank in job.ranks)])
    bar = max(_BARS[0], min(_BARS[1], width - hosts - _NUMBERS - 12))
    titles = f"{fit('HOST', hosts)} {'GPU':>4}    {fit('UTIL', bar + 6)}{'TENSOR':>6} {'POWER':>7} {'MEM%':>5}"
    lines = [*_facts(job), BLANK, Line(((titles, "head"),), "head")]
    return lines + [line for rank in job.ranks for line in _rank_lines(rank, hosts, bar, width)]


def _facts(job: Group) -> list[Line]:
    known, count = len(job.ranks), job.totals.gpus
    hosts = len({(rank.server, rank.host) for rank in job.ranks}) or job.totals.hosts
    size = f"{count} GPU{'s' * (count != 1)} on {hosts} host{'s' * (hosts != 1)}"
    size += f"; {known} of them {'is' if known == 1 else 'are'} known by number" if known < count else ""
    facts = [
        ("ranks", size, "text"),
        ("user", ", ".join(job.users or ()) or "unknown: no gputop export runs there", "text"),
    ]
    if len(job.ranks) < LEAST_MEMBERS:
        facts.append(("straggler", "unknown: a comparison needs at least three ranks", "muted"))
    elif not has_comparable_load(job.ranks):
        facts.append(("straggler", "unknown: a comparison needs the load of at least three ranks", "muted"))
    else:
        facts.append(("straggler", job.straggler or "none", "hot" if job.straggler else "text"))
    facts += [("host", f"{job.odd}", "hot")] if job.odd else []
    return [Line(((fit(name, _NAME), "muted"), (text, ink))) for name, text, ink in facts]


def _rank_lines(rank: Rank, hosts: int, bar: int, width: int) -> list[Line]:
    """Return a rank, and below it what is unlike the others if there is no room beside it."""
    gpu = rank.gpu
    load, memory = utilization_ink(gpu.utilization_percent), load_ink(memory_load(gpu.memory_percent))
    spans = [
        (f"{fit(rank.host, hosts)} {gpu.index:>4}  ", "hot" if rank.odd else "title"), gpu_cell(gpu), (" ", "text"),
        *meter(gpu.utilization_percent, bar, load), (f"{percent_text(gpu.utilization_percent):>5} ", load),
        (f"{percent_text(gpu.tensor_percent):>6} {_power(gpu):>7} ", "text"),
        (f"{percent_text(gpu.memory_percent):>5}", memory),
    ]  # fmt: skip
    room = width - sum(width_of(text) for text, _ in spans)
    if not rank.odd:
        return [Line(tuple(spans))]
    if width_of(rank.odd) + 2 <= room:
        return [Line((*spans, (f"  {rank.odd}", "hot")))]
    return [Line(tuple(spans)), Line((("  " + rank.odd, "hot"),))]


def _power(gpu: FleetGpu) -> str:
    return NOTHING if gpu.power_w is None else f"{gpu.power_w:,.0f}W"
