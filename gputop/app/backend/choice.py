"""Choice of the backend from a request. Only this module and `operations.choice` distinguish kinds of box."""

from gputop.app.backend.backend import Backend, BackendRequest


def open_backend(request: BackendRequest) -> Backend:
    """Return the backend of the box that the user chose. It reads nothing yet."""
    if request.source is not None:
        from gputop.app.backend.plugin_source import PluginBackend

        return PluginBackend(request, request.source)
    if request.demo is not None:
        from gputop.app.backend.simulated import SimulatedBackend

        return SimulatedBackend(request, request.demo)
    from gputop.app.backend.real import RealBackend

    return RealBackend(request)
