"""Screen: its settings, its sampler as a child process, and its parts."""

import os
import sys
from collections.abc import Callable, Mapping
from signal import SIG_DFL, SIGHUP, signal
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.app.backend.backend import BackendRequest, Viewer
from gputop.app.backend.choice import open_backend
from gputop.app.errors import BAD_INPUT, NO_DRIVER, OK, UseCaseError
from gputop.app.settings.settings_file import Written, save, settled, written
from gputop.app.terminal import warn
from gputop.core.probing.progress import Prober
from gputop.core.protocol.link import Down, Link
from gputop.core.protocol.player import Player
from gputop.core.recording.recording import Recorder
from gputop.core.settings.settings import READ_ONLY, SETTING_BY_KEY, Settings
from gputop.core.text.text import clean
from gputop.lazy_imports import collect_seldom, lean
from gputop.machine.files.places import config_file, is_of_another_user

_LAST_FRAMES_S: Final = 2.0  # for the disk, if the user quits during a recording


class ScreenRequest(Struct, frozen=True, kw_only=True):
    """A screen. Values override the settings; None and False do not.

    ``served``: for a browser, through a pipe: it writes no file of the server and starts no program there.
    """

    backend: BackendRequest
    theme: str | None = None
    density: str | None = None
    ascii: bool = False
    served: bool = False


class Parts(Struct, frozen=True, kw_only=True):
    """The optional parts of a screen. ``player``: of a recording; ``source``: name of a plugin's.

    ``remote``, ``refused``, ``lacks``, ``log_in``, ``go_to_host``: see `ViewOptions`.
    ``is_served``: see `ScreenRequest`.
    """

    viewer: Viewer
    player: Player | None = None
    recorder: Recorder | None = None
    source: str = ""
    prober: Prober | None = None
    has_all_processes: bool = True
    remote: str = ""
    refused: str = ""
    lacks: Mapping[str, str] = {}
    log_in: Callable[[], str] | None = None
    go_to_host: Callable[[int], None] | None = None
    is_served: bool = False


def has_terminal() -> bool:
    """Return whether a screen can be shown: keys come from a terminal, and it can move its cursor."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def show_screen(request: ScreenRequest) -> int:
    """Show the screen until the user quits, or a snapshot without a suitable terminal; return the exit status."""
    if not (request.served or has_terminal()):
        from gputop.app.monitoring.snapshot import SnapshotRequest, snapshot

        snapshot(SnapshotRequest(backend=request.backend))
        return OK
    from gputop.wire.client import Client, sampler_command

    said, settings = configured(request)
    try:  # first of all: it reads while the screen still imports
        link = Client(sampler_command(sampler_arguments(request.backend, settings)))
    except OSError as error:
        text = f"cannot start the sampler: {error.filename or 'no process'}: {error.strerror}"
        raise UseCaseError(NO_DRIVER, text) from None
    parts = Parts(
        viewer=open_backend(request.backend).viewer(),
        source=(request.backend.source or "").partition(":")[0],
        prober=_prober(request.backend.demo),
        has_all_processes=request.backend.has_all_processes,
    )
    if request.served:
        return run_screen(link, said, settings, _served(parts, settings))
    return run_live(link, said, settings, parts)


def run_live(link: Link, said: Written, settings: Settings, parts: Parts) -> int:
    """Run the screen of a machine, which can be recorded, until the user quits; return the exit status."""
    from gputop.machine.files.output import create_output
    from gputop.wire.tape.file import TapeFile
    from gputop.wire.tape.recorder import TapeRecorder

    recorder = TapeRecorder(lambda path: TapeFile(create_output(path)))
    status = run_screen(link, said, settings, replace(parts, recorder=recorder))
    recorder.close(_LAST_FRAMES_S)
    return status


def _served(parts: Parts, settings: Settings) -> Parts:
    """Return the parts that visitors get: none that writes files, and a prober only if they may change something."""
    prober = None if settings.read_only else parts.prober
    return replace(parts, viewer=Viewer(None), recorder=None, prober=prober, is_served=True)


def forget_orders_of_another_user() -> None:
    """Remove the variables of Textual if sudo kept them: they name a log file to write and code to load."""
    if is_of_another_user(os.environ):
        for name in [name for name in os.environ if name.startswith("TEXTUAL")]:
            del os.environ[name]


def configured(request: ScreenRequest) -> tuple[Written, Settings]:
    """Return the file as it is written, and the settings in force with the values of the request over them."""
    said = written(config_file())
    return said, overridden(settled(said=said).settings, request)


def run_screen(link: Link, said: Written, settings: Settings, parts: Parts) -> int:
    """Run the screen on a link until the user quits; return the exit status.

    Print the mistakes in the settings, and why the link does not work if it does not.
    """
    forget_orders_of_another_user()
    lean("textual.app")
    from gputop.app.copying import keep_copy
    from gputop.app.notifying import ProgramNotifier
    from gputop.core.plugins.tables import PANELS
    from gputop.report.csv import csv
    from gputop.ui.app import GputopApp
    from gputop.ui.options import ViewOptions
    from gputop.ui.render.layout import Density

    view = ViewOptions(
        theme=settings.theme, density=Density(settings.density), is_ascii=settings.ascii or not speaks_unicode(),
        own_user=parts.viewer.name, own_pid=parts.viewer.pid, settings=settings, problems=_reported(said),
        settings_file=clean(said.file), save=save, player=parts.player, recorder=parts.recorder, panels=PANELS,
        panel_ended=_keep_ending, source=parts.source, prober=parts.prober, csv=csv, keep_copy=keep_copy,
        notifier=ProgramNotifier(os.environ), read_only_by=_read_only_by(said),
        has_all_processes=parts.has_all_processes, remote=parts.remote, refused=parts.refused, log_in=parts.log_in,
        lacks=parts.lacks, go_to_host=parts.go_to_host,
    )  # fmt: skip
    if parts.is_served:
        view = replace(view, is_served=True, save=None, keep_copy=None, notifier=None)
    else:
        take_terminal()
    collect_seldom()  # after the last import that stays loaded
    app = GputopApp(link, view)
    return _status(app.run(mouse=True), app.return_code)


def _status(down: Down | None, code: int | None) -> int:
    if down is None:
        return code or OK  # 1 after an error of the screen, which Textual has printed
    print(down.reason, file=sys.stderr)  # the sampler's own message
    return BAD_INPUT if down.status is None else down.status


def _reported(said: Written) -> tuple[str, ...]:
    """Return the mistakes in the settings, also in the keys; print them."""
    from gputop.ui.input.replay_actions import EVERY

    problems = settled(actions={action.id: action.place for action in EVERY}, said=said).problems
    for problem in problems:
        warn(problem)
    return problems


def take_terminal() -> None:
    """End with the terminal, and let Textual draw on it although stderr is a file."""
    signal(SIGHUP, SIG_DFL)  # also under nohup: a screen without its terminal is useless
    if not sys.stderr.isatty():
        sys.__stderr__ = sys.__stdout__  # type: ignore[misc] # Textual draws there; `2>file` is for messages


def overridden(settings: Settings, request: ScreenRequest) -> Settings:
    """Return the settings with the values of the request over them."""
    backend = request.backend
    given = {
        "theme": request.theme, "density": request.density, "ascii": request.ascii, "interval_s": backend.interval_s,
        "read_only": backend.read_only,
    }  # fmt: skip
    return replace(settings, **{name: value for name, value in given.items() if value})


def _read_only_by(said: Written) -> str:
    """Return the option, variable or file that makes the screen read-only."""
    if not settled(said=said).settings.read_only:
        return "--read-only"
    variable = SETTING_BY_KEY[READ_ONLY].variable
    return variable if variable in os.environ else clean(said.file)


def sampler_arguments(backend: BackendRequest, settings: Settings) -> list[str]:
    """Return the arguments of the command line that the sampler needs too."""
    selection = backend.selection
    pairs = [("--gpu", ",".join(selection.gpus)), ("--user", ",".join(selection.users))]
    pairs += [("--demo", backend.demo or ""), ("--source", backend.source or "")]
    words = [word for name, value in pairs if value for word in (name, value)]
    words += [word for query in backend.where for word in ("--where", query)]
    flags = (("--only-compute", selection.only_compute), ("--read-only", settings.read_only))
    return [*words, *(name for name, is_set in flags if is_set), "--interval", str(settings.interval_s)]


def _prober(demo: str | None) -> Prober:
    """Return the client that runs probes on the box of the screen."""
    import time

    from gputop.core.plugins.tables import PROBES
    from gputop.wire.prober import ProbeClient, probe_command

    more = ["--demo", demo] if demo else []
    return ProbeClient(PROBES[0] if PROBES else None, lambda wish: probe_command(wish, more), time.monotonic)


def _keep_ending(panel: str, reason: str) -> None:
    """Store for `gputop plugins` why a panel was switched off, or forget it if the panel works."""
    from gputop.machine.plugins.failures import Failures

    failures = Failures(os.environ)
    failures.failed("panels", panel, reason) if reason else failures.worked("panels", panel)


def speaks_unicode() -> bool:
    """Return whether the terminal shows more than ASCII; the Linux console lacks braille."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8" and os.environ.get("TERM") != "linux"
