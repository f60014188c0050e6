"""The tree of processes: children below their parents."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.model.sample import HostProcess

_DEEPEST: Final = 32  # what is deeper begins a tree of its own


class TreeNode(Struct, frozen=True, gc=False):
    """A process and its children."""

    process: HostProcess
    children: Sequence["TreeNode"] = ()

    def all(self) -> list[HostProcess]:
        """Return the process and all its descendants."""
        return [self.process, *(one for child in self.children for one in child.all())]


def process_tree(
    leaves: Iterable[HostProcess], known: Mapping[int, HostProcess], others: Iterable[HostProcess] = ()
) -> list[TreeNode]:
    """Return the roots of a tree of these processes and of their ancestors, as far as ``known`` lists them.

    It includes those of ``others`` that descend from a process of the tree through others alone: data loaders.
    """
    held: dict[int, HostProcess] = {}
    for leaf in leaves:
        one: HostProcess | None = leaf
        while one is not None and one.pid not in held:
            held[one.pid] = one
            one = _parent(one, known)
    _add_below(held, {other.pid: other for other in others}, known)
    children: dict[int, list[HostProcess]] = {}
    depths: dict[int, int] = {}
    roots: list[HostProcess] = []
    for process in sorted(held.values(), key=_age):  # parents first
        parent = _parent(process, known)
        depth = depths[process.pid] = 0 if parent is None else depths[parent.pid] + 1
        if parent is None or depth % _DEEPEST == 0:
            roots.append(process)
        else:
            children.setdefault(parent.pid, []).append(process)
    return [_node(root, children) for root in roots]


def _add_below(
    held: dict[int, HostProcess], others: Mapping[int, HostProcess], known: Mapping[int, HostProcess]
) -> None:
    outside: set[int] = set()
    for other in others.values():
        line: list[HostProcess] = []
        one: HostProcess | None = other
        while one is not None and one.pid in others and one.pid not in held and one.pid not in outside:
            line.append(one)
            one = _parent(one, known)
        if one is not None and one.pid in held:
            held.update((each.pid, each) for each in line)
        else:
            outside.update(each.pid for each in line)


def _parent(process: HostProcess, known: Mapping[int, HostProcess]) -> HostProcess | None:
    """Return the parent of a process; a parent is older, so that no reused pid closes a circle."""
    parent = known.get(process.parent_pid or 0)
    if parent is None or process.start_ticks is None or parent.start_ticks is None:
        return None
    is_older = (parent.start_ticks, parent.pid) < (process.start_ticks, process.pid)
    return parent if is_older else None


def _age(process: HostProcess) -> tuple[int, int]:
    return process.start_ticks or 0, process.pid


def _node(process: HostProcess, children: Mapping[int, Sequence[HostProcess]]) -> TreeNode:
    return TreeNode(process, [_node(child, children) for child in children.get(process.pid, ())])
