"""The servers and options of the fleet that the configuration file names."""

from msgspec import convert
from msgspec.structs import replace

from gputop.app.errors import BadRequestError
from gputop.app.fleet.request import FleetRequest, Request
from gputop.app.settings.settings_file import first_written
from gputop.core.settings.fleet import read_fleet
from gputop.core.text.text import clean
from gputop.machine.files.places import config_file


def configured(request: Request) -> Request:
    """Return a request with what the file says about all that the user left open. Raises BadRequestError.

    If the user names servers or hosts, the file's are not asked, and their credentials not used.
    """
    said = first_written(config_file())
    if said.problem is not None:
        return request
    values, mistakes = read_fleet(said.values.get("fleet", {}))
    if mistakes:
        path, message, hint = mistakes[0]
        raise BadRequestError(f"{clean(said.file)}: {path}: {message}" + (f". Did you mean {hint}?" if hint else ""))
    file, usual = convert(values, FleetRequest), FleetRequest()
    options = ["labels", "interval_s", "timeout_s"]
    if not (request.prometheus or request.hosts or request.is_demo):
        options += ["prometheus", "hosts", "port", *(() if request.http_config else ("http_config",))]
    open_ones = [name for name in options if getattr(request, name) == getattr(usual, name)]
    return replace(request, **{name: getattr(file, name) for name in open_ones})
