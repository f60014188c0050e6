"""Parsers for the files of /proc/PID that only an inspection reads: limits, io, maps, status, environ."""

from typing import Final

from gputop.core.inspection.inspection import Limit, Mapping, MemoryParts, Transfers, Variable
from gputop.core.secrets.mask import is_secret
from gputop.core.text.text import clean, decode

_LIMITS: Final = {b"Max open files": "open files", b"Max locked memory": "locked memory", b"Max processes": "processes"}
_LIMIT_NAME_CELLS: Final = 26
_MOST_MAPPINGS: Final = 24
_LONGEST_VALUE: Final = 4096
_LONGEST_JUDGED: Final = 4 * _LONGEST_VALUE  # the end of an address shows that its begin is a password


def parse_limits(raw: bytes) -> tuple[Limit, ...]:
    """Return the limits that GPU programs reach. Raises ValueError, IndexError."""
    found = []
    for line in raw.splitlines():
        name = _LIMITS.get(line[:_LIMIT_NAME_CELLS].strip())
        if name is not None:
            soft, hard = line[_LIMIT_NAME_CELLS:].split()[:2]
            found.append(Limit(name, _limit(soft), _limit(hard)))
    return tuple(found)


def parse_transfers(raw: bytes) -> Transfers:
    """Return the counters of /proc/PID/io. Raises ValueError, KeyError."""
    counts = {name: int(value) for name, _, value in (line.partition(b":") for line in raw.splitlines())}
    return Transfers(
        read_bytes=counts[b"rchar"],
        written_bytes=counts[b"wchar"],
        storage_read_bytes=counts[b"read_bytes"],
        storage_written_bytes=counts[b"write_bytes"],
    )


def status_fields(raw: bytes) -> dict[bytes, bytes]:
    """Return the lines of /proc/PID/status by name."""
    return {name: value.strip() for name, _, value in (line.partition(b":") for line in raw.split(b"\n"))}


def memory_parts(fields: dict[bytes, bytes]) -> MemoryParts:
    """Return the parts of the resident memory. Raises ValueError, KeyError: kernel threads and zombies have none.

    Read from status: smaps_rollup walks the page tables and delays the process's own memory calls.
    """
    return MemoryParts(
        resident_bytes=_kilobytes(fields[b"VmRSS"]),
        anonymous_bytes=_kilobytes(fields[b"RssAnon"]),
        file_bytes=_kilobytes(fields[b"RssFile"]),
        shared_bytes=_kilobytes(fields[b"RssShmem"]),
        swapped_bytes=_kilobytes(fields[b"VmSwap"]),
    )


def parse_mappings(raw: bytes) -> tuple[Mapping, ...]:
    """Return the files that take most of the address space, largest first. Malformed lines are skipped."""
    sizes: dict[bytes, int] = {}
    for line in raw.splitlines():
        fields = line.split(None, 5)
        if len(fields) < 6 or not fields[5].startswith(b"/"):
            continue  # heap, stack, and other memory without a file
        first, _, last = fields[0].partition(b"-")
        try:
            sizes[fields[5]] = sizes.get(fields[5], 0) + int(last, 16) - int(first, 16)
        except ValueError:
            continue
    largest = sorted(sizes.items(), key=lambda item: (-item[1], item[0]))[:_MOST_MAPPINGS]
    return tuple(Mapping(decode(path), size) for path, size in largest)


def parse_variables(raw: bytes, *, reveal: bool) -> tuple[Variable, ...]:
    """Return the environment by name; hide the values of secrets unless ``reveal``."""
    found = []
    for entry in raw.split(b"\0"):
        name, equals, value = entry.partition(b"=")
        if equals:
            found.append(_variable(decode(name[:_LONGEST_VALUE]), value.decode("utf-8", "replace"), reveal=reveal))
    return tuple(sorted(found, key=lambda variable: variable.name))


def _variable(name: str, value: str, *, reveal: bool) -> Variable:
    secret = is_secret(name, value[:_LONGEST_JUDGED])
    shown = None if secret and not reveal else clean(value[:_LONGEST_VALUE])
    return Variable(name, shown, secret)


def _kilobytes(value: bytes) -> int:
    return int(value.split()[0]) * 1024


def _limit(value: bytes) -> int | None:
    return None if value == b"unlimited" else int(value)
