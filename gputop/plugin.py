"""The public API for plugins: everything that a plugin imports. docs/plugins.md explains it.

The names in ``__all__`` are version `API_VERSION` of the API. A name that is removed or changes its meaning starts a
new version; a name that is added does not.
"""

from gputop.core.plugins.api import *  # noqa: F403
from gputop.core.plugins.api import __all__  # noqa: F401
