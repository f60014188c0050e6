"""Screen of another host: its sampler runs there, and ssh asks before the screen starts."""

import time
from collections.abc import Callable, Sequence
from importlib import import_module
from signal import SIGINT, signal

from gputop.app.backend.backend import Viewer
from gputop.app.errors import NO_DRIVER, UseCaseError
from gputop.app.monitoring.screen import Parts, ScreenRequest, configured, run_live, sampler_arguments
from gputop.app.remote.reach import reached
from gputop.app.terminal import Person
from gputop.core.probing.progress import Prober
from gputop.core.protocol.link import Down
from gputop.core.protocol.remote import COMMANDS, Hello
from gputop.core.text.text import excerpt
from gputop.lazy_imports import lean
from gputop.wire.ssh.client import SshClient, show_on_terminal
from gputop.wire.ssh.command import NOT_FOUND, Remote


def show_remote_screen(request: ScreenRequest, host: str, go_to_host: Callable[[int], None] | None = None) -> int:
    """Show the screen of a host until the user quits; return the exit status. ``go_to_host``: see `ViewOptions`."""
    said, settings = configured(request)
    remote = reached(host)
    words = sampler_arguments(request.backend, settings)
    link, greeting = _connected(remote, words)
    if isinstance(greeting, Down) and greeting.status == NOT_FOUND:
        link, greeting = _brought(remote, words, greeting)
    if isinstance(greeting, Down):
        raise UseCaseError(NO_DRIVER, f"cannot reach gputop on {host}: {greeting.reason}")
    parts = Parts(
        viewer=Viewer(greeting.user),
        source=(request.backend.source or "").partition(":")[0],
        prober=_prober(remote, request.backend.demo),
        has_all_processes=request.backend.has_all_processes,
        remote=host,
        refused=greeting.refusal,
        lacks=_lacks(greeting, host),
        log_in=_log_in(link, host),
        go_to_host=go_to_host,
    )
    return run_live(link, said, settings, parts)


def _lacks(hello: Hello, host: str) -> dict[str, str]:
    """Return why the gputop of a host does not take commands of this one, by their tags."""
    version = excerpt(hello.version, 20)
    why = f"gputop {version} on {host} cannot do this. Update it there, then start this screen again"
    return dict.fromkeys(set(COMMANDS) - set(hello.commands), why)


def _connected(remote: Remote, words: Sequence[str]) -> tuple[SshClient, Hello | Down]:
    """Return a link and its greeting, or why there is none; the link is closed then."""
    link = SshClient(remote, words, show_on_terminal)
    try:
        lean("textual.app")
        import_module("gputop.ui.app")  # while ssh connects
        greeting = link.greet()
    except KeyboardInterrupt:
        link.close()
        raise
    if isinstance(greeting, Down):
        link.close()
    return link, greeting


def _brought(remote: Remote, words: Sequence[str], down: Down) -> tuple[SshClient, Hello | Down]:
    """Offer to copy gputop to the host, and connect again; raise UseCaseError without a copy."""
    from gputop.app.remote.bring import bring
    from gputop.app.remote.consent import Consents

    problem = bring(remote, Person(), Consents())
    if problem:
        text = f"cannot reach gputop on {remote.host}: {down.reason}; {problem}. Install it there"
        raise UseCaseError(NO_DRIVER, text)
    return _connected(remote, words)


def _log_in(link: SshClient, host: str) -> Callable[[], str]:
    """Return what connects again on the free terminal, and says why it could not."""

    def log_in() -> str:
        before = signal(SIGINT, lambda *_: None)  # Ctrl-C ends ssh, which gets it too, but not the screen
        try:
            print(f"gputop connects to {host}. Ctrl-C returns to the screen.", flush=True)
            came = link.log_in()
        finally:
            signal(SIGINT, before)
        return came.reason if isinstance(came, Down) else ""

    return log_in


def _prober(remote: Remote, demo: str | None) -> Prober:
    """Return the client that runs probes on the host. ssh cannot ask for a password then."""
    from gputop.core.plugins.tables import PROBES
    from gputop.wire.prober import ProbeClient, probe_words

    more = ["--demo", demo] if demo else []
    return ProbeClient(
        PROBES[0] if PROBES else None,
        lambda wish: remote.command(probe_words(wish, more), can_ask=False),
        time.monotonic,
    )
