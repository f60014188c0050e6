"""Choice of the operations from a request; of a control that refuses, if the user or the settings request that."""

from collections.abc import Callable

from gputop.app.backend.backend import BackendRequest
from gputop.app.backend.operations.operations import Control, Operations
from gputop.app.backend.operations.read_only import read_only_control
from gputop.core.mig.answers import MigProgress


def open_operations(request: BackendRequest) -> Operations:
    """Return the operations on the box that the user chose."""
    if request.source is not None:
        from gputop.app.backend.operations.plugin_source import PluginOperations

        return PluginOperations()
    if request.demo is not None:
        from gputop.app.backend.operations.simulated import SimulatedOperations

        return SimulatedOperations(request.demo)
    from gputop.app.backend.operations.real import RealOperations

    return RealOperations(is_read_only=request.read_only)


def open_control(
    request: BackendRequest,
    protected: frozenset[int],
    *,
    notify: Callable[[str], None] | None = None,
    progress: Callable[[MigProgress], None] = lambda _: None,
) -> Control:
    """Return the control of the chosen box, or one that refuses if the request or the settings are read-only.

    ``protected``: pids of gputop itself. ``notify``: receives the problems of file and environment. ``progress``:
    receives the steps of a MIG change.
    """
    refusal = read_only_control(is_read_only=request.read_only, notify=notify)
    return refusal or open_operations(request).control(protected, progress)
