"""The filter language: ``user:ann gpu_mem>10GiB sm<5 cmd~vllm and not type:G``.

A term is ``column operator value``; the columns are those of the process table. ``:`` is equal (text regardless of
case, ``*`` matches anything), ``=`` and ``!=`` compare exactly, ``<`` ``<=`` ``>`` ``>=`` compare numbers with units,
``~`` searches a regular expression. ``:`` ``=`` ``!=`` accept a list: ``user:ann,bob``; ``-`` is no value. A single
word is searched for. Adjacent terms must all match; ``and or not``, ``& | !`` and parentheses combine them.
`condition` describes absent values.
"""

from typing import Final

from msgspec.structs import replace

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, GpuProcess, HostProcess
from gputop.core.processes.column import Row
from gputop.core.processes.columns import rows
from gputop.core.query.condition import Node
from gputop.core.query.filter import Filter
from gputop.core.query.parser import QueryError, read
from gputop.core.query.process_vocabulary import PROCESSES
from gputop.core.query.selection import undecided_text
from gputop.core.text.cells import width
from gputop.core.text.text import clean

_AROUND: Final = 99  # characters before an error, and from it on

__all__ = ["Query", "QueryError", "kept", "parse", "pointed"]


class Query(Filter[Row]):
    """A filter on the process table."""

    def __init__(self, root: Node) -> None:
        super().__init__(root, PROCESSES)


def parse(text: str) -> Query | QueryError:
    """Read a query; the empty one keeps everything. Never raises."""
    node = read(text, PROCESSES.fields)
    return node if isinstance(node, QueryError) else Query(node)


def kept(frame: Frame, query: Query) -> Frame:
    """Return the frame with only the GPU uses, processes and jobs that the query keeps.

    ``left_out`` names the processes of which the query cannot tell whether they match.
    """
    uses: dict[ProcessId, list[GpuProcess]] = {}
    unknown: dict[ProcessId, HostProcess] = {}
    for row in rows(frame):
        if query.keeps(row):
            uses.setdefault(row.process.id, []).append(row.use)
        elif not query.decides(row):
            unknown[row.process.id] = row.process
    undecided = [process for identity, process in unknown.items() if identity not in uses]
    return replace(
        frame,
        processes=tuple(replace(p, gpus=tuple(held)) for p in frame.processes if (held := uses.get(p.id))),
        jobs=tuple(job for job in frame.jobs if any(member in uses for member in job.members)),
        left_out=(*frame.left_out, *undecided_text("--where", undecided)),
    )


def pointed(text: str, error: QueryError) -> str:
    """Return the text, or the part of a long one around the error, with a caret on the next line under the error."""
    first, end = max(0, error.position - _AROUND), error.position + _AROUND
    before = clean(("…" if first else "") + text[first : error.position])
    after = clean(text[error.position : end] + ("…" if end < len(text) else ""))
    return f"{before}{after}\n{' ' * width(before)}^"
