"""The screen in browsers: each visitor has a screen and a sampler, as in a terminal.

The page is textual-serve's terminal, the server is aiohttp's; the code that joins them is here and in `visitor`.
"""

import os
from importlib.util import find_spec
from typing import Final

from msgspec.structs import replace

from gputop.app.backend.backend import BackendRequest
from gputop.app.errors import BadRequestError
from gputop.app.monitoring.screen import ScreenRequest, configured, sampler_arguments
from gputop.app.terminal import warn
from gputop.app.web.site import Site
from gputop.wire.client import gputop_command

_END_S: Final = 5.0  # for the screens, when the server ends


def show_screens(site: Site, backend: BackendRequest, *, may_change: bool) -> None:
    """Serve screens until a signal ends it. Raises BadRequestError without textual-serve."""
    if find_spec("textual_serve") is None:
        raise BadRequestError(
            "the screen in a browser needs the package textual-serve: pip install 'textual-serve>=1.1.3'."
            " gputop serve --wall needs none"
        )
    from aiohttp import web

    from gputop.app.web.screen_pages import ScreenPages

    os.environ["TERM"] = "xterm-256color"  # of browsers, wherever the server was started
    os.environ["PYTHONIOENCODING"] = "utf-8"
    os.environ.pop("NO_COLOR", None)
    backend = replace(backend, read_only=backend.read_only or not may_change)
    _, settings = configured(ScreenRequest(backend=backend))
    pages = ScreenPages(site, gputop_command("--served", *sampler_arguments(backend, settings)))
    print(site.address, flush=True)
    can = "may only look" if backend.read_only else "may do all that you may"
    warn(f"serving the screen: anyone with the address {can}; press Ctrl-C to stop")
    web.run_app(
        pages.application(), sock=site.listener, ssl_context=site.access.latest().tls, shutdown_timeout=_END_S,
        print=lambda *_: None, access_log=None,
    )  # fmt: skip
