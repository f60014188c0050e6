"""The name of a collective operation, in one form for all sources."""

import re

from gputop.core.text.text import excerpt

_MOST = 60


def operation_text(name: str, count: int | None = None) -> str:
    """Return ``all-reduce 1,204`` for ``AllReduce`` of NCCL or ``nccl:_all_reduce_base`` of PyTorch."""
    plain = name.rpartition(":")[2].strip("_").removesuffix("_base")
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "-", excerpt(plain, _MOST)).replace("_", "-").lower()
    return words if count is None else f"{words} {count:,}"
