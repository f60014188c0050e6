"""A process that reads one dump of the Flight Recorder from stdin, and writes its state as JSON, or why it cannot.

A dump is a pickle, which can name any function and call it. Here no name leads anywhere, and this process has little
memory and time: whatever a dump does, it does to this process.
"""

import io
import pickle  # the format of PyTorch; `_Plain` finds no class and no function
import resource
import sys
from typing import Any, Final

from msgspec.json import encode

from gputop.core.insight.flight_dump import reduce_dump

MOST_BYTES: Final = 64 << 20
_MEMORY: Final = 1 << 30
_CPU_S: Final = 10


class _Plain(pickle.Unpickler):
    """Loads numbers, texts, lists, tuples and dictionaries, and nothing else."""

    def find_class(self, module_name: str, global_name: str) -> Any:  # noqa: ARG002 - as in the base class
        raise pickle.UnpicklingError("it contains more than plain values, and could run a program: not read")

    def persistent_load(self, pid: Any) -> Any:  # noqa: ARG002 - as in the base class
        raise pickle.UnpicklingError("it refers to something outside of the file: not read")


def main() -> int:
    """Read, reduce and write; return the exit status. The reason of a failure is a line on stderr."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        raw = sys.stdin.buffer.read(MOST_BYTES + 1)
        dump = reduce_dump(_Plain(io.BytesIO(raw)).load())
        sys.stdout.buffer.write(encode(dump))
    except MemoryError:
        return _refused("it needs more than 1 GiB of memory: not read")
    except (ValueError, pickle.UnpicklingError) as error:
        return _refused(str(error))
    except Exception:  # noqa: BLE001 - the border to a foreign file: a pickle raises whatever it likes
        return _refused("it is damaged")
    return 0


def _refused(reason: str) -> int:
    sys.stderr.write(reason + "\n")
    return 1
