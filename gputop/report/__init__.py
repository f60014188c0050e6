"""Headless views of a frame: table, JSON, CSV."""

import sys
from types import ModuleType

from gputop import report as _tell


class _Room(ModuleType):
    """This package, which takes the name of the function `gputop.report` where both are imported: it can be called."""

    __call__ = staticmethod(_tell)


sys.modules[__name__].__class__ = _Room
