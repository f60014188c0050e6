"""gputop without a command: the screen, and its sampler as a child."""

import argparse
import os
import sys
from signal import SIG_DFL, SIGHUP, signal
from typing import Final

from msgspec.structs import replace

from gputop.app.settings.settings_file import Written
from gputop.cli.args.exits import BAD_INPUT, NO_DRIVER, OK, fail
from gputop.cli.args.options import selection
from gputop.core.probing.progress import Prober
from gputop.core.protocol.link import Link
from gputop.core.protocol.player import Player
from gputop.core.recording.recording import Recorder
from gputop.core.settings.settings import Settings
from gputop.lazy_imports import collect_seldom

_THEMES: Final = ("auto", "dark", "light", "high-contrast", "monochrome", "16-colour")
_DENSITIES: Final = ("auto", "compact", "detailed")
_LAST_FRAMES_S: Final = 2.0  # for the disk, when somebody leaves while it records


def add(parser: argparse.ArgumentParser) -> None:
    """Add the screen's options."""
    group = parser.add_argument_group("the screen")
    group.add_argument(
        "--theme", choices=_THEMES,
        metavar="THEME", help=f"colours: {', '.join(_THEMES)} (default auto: as the terminal can)",
    )  # fmt: skip
    group.add_argument(
        "--density", choices=_DENSITIES, metavar="DENSITY",
        help=f"how much of each GPU is shown: {', '.join(_DENSITIES)} (default auto: as there is room)",
    )  # fmt: skip
    group.add_argument("--ascii", action="store_true", help="draw with ASCII signs alone")


def run(options: argparse.Namespace) -> int:
    """Show the screen; without a terminal that can show it print a snapshot instead."""
    if not has_terminal():
        from gputop.cli.commands import snapshot

        options.format, options.wait = "table", snapshot.FIRST_WAIT_S
        return snapshot.run(options)
    from gputop.app.settings import settings_file
    from gputop.app.settings.config_path import path
    from gputop.wire.client import Client, sampler_command
    from gputop.wire.tape.recorder import TapeRecorder

    said = settings_file.written(path())
    settings = with_options(settings_file.settled(said=said).settings, options)
    try:
        link = Client(sampler_command(forwarded(options, settings)))  # it reads while the screen is still importing
    except OSError as error:
        fail(NO_DRIVER, f"what reads the GPUs cannot be started: {error.filename or 'no process'}: {error.strerror}")
    recorder = TapeRecorder()
    status = shown(
        link, settings, said, recorder=recorder, source=options.source or "", prober=_prober(options), demo=options.demo
    )
    recorder.close(_LAST_FRAMES_S)
    return status


def _prober(options: argparse.Namespace) -> Prober:
    """Return what runs probes on the page of the screen, on the box that it shows."""
    import time

    from gputop.core.plugins.tables import PROBES
    from gputop.wire.prober import ProbeClient, probe_command

    more = ["--demo", options.demo] if options.demo else []
    return ProbeClient(PROBES[0] if PROBES else None, lambda wish: probe_command(wish, more), time.monotonic)


def has_terminal() -> bool:
    """Say whether a screen can be shown: keys come from a terminal, and the cursor can be moved on it."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def shown(
    link: Link,
    settings: Settings,
    said: Written,
    *,
    player: Player | None = None,
    recorder: Recorder | None = None,
    source: str = "",
    prober: Prober | None = None,
    demo: str | None = None,
) -> int:
    """Show the screen on a link until somebody leaves it; return the exit status."""
    from gputop.app.settings import settings_file
    from gputop.core.plugins.tables import PANELS
    from gputop.ui.app import GputopApp
    from gputop.ui.input.tape_actions import EVERY
    from gputop.ui.options import ViewOptions
    from gputop.ui.render.layout import Density

    problems = settings_file.settled(actions={action.id: action.place for action in EVERY}, said=said).problems
    for problem in problems:
        print(f"gputop: {problem}", file=sys.stderr)
    view = ViewOptions(
        theme=settings.theme,
        density=Density(settings.density),
        is_ascii=settings.ascii or not _speaks_unicode(),
        own_user=_own_user(demo),
        own_pid=os.getpid() if demo is None and player is None and not source else None,
        settings=settings,
        problems=problems,
        save=settings_file.save,
        player=player,
        recorder=recorder,
        panels=PANELS,
        panel_ended=_keep_ending,
        source=source.partition(":")[0],
        prober=prober,
    )
    signal(SIGHUP, SIG_DFL)  # also under nohup: without its terminal a screen is of no use to anybody
    collect_seldom()  # when all that stays has been imported
    if not sys.stderr.isatty():
        sys.__stderr__ = sys.__stdout__  # type: ignore[misc] # Textual draws there; `2>file` is meant for messages
    down = GputopApp(link, view).run(mouse=True)
    if down is None:
        return OK
    print(down.reason, file=sys.stderr)  # the sampler's own words
    return BAD_INPUT if down.status is None else down.status


def _own_user(demo: str | None) -> str | None:
    """Return who looks: with that user's rights processes are changed. A simulated box has a user of its own."""
    if demo is not None:
        from gputop.simulator import viewer

        return viewer(demo)
    uid, said = os.geteuid(), os.environ.get("USER")
    if uid == 0:
        return "root"
    return said if said not in (None, "", "root") else _name_of(uid)


def _name_of(uid: int) -> str:
    """Return the name of a user; only asked where the environment cannot be right, for a directory may be slow."""
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _keep_ending(panel: str, reason: str) -> None:
    """Keep for `gputop plugins` why a panel was shut off, or forget it where it works."""
    from gputop.machine.plugins.failures import Failures

    failures = Failures(os.environ)
    failures.failed("panels", panel, reason) if reason else failures.worked("panels", panel)


def _speaks_unicode() -> bool:
    """Say whether the terminal shows more than ASCII; the Linux console lacks braille."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8" and os.environ.get("TERM") != "linux"


def with_options(settings: Settings, options: argparse.Namespace) -> Settings:
    """Return the settings with what the command line says put over them."""
    return replace(
        settings,
        theme=options.theme or settings.theme,
        density=options.density or settings.density,
        interval_s=options.interval or settings.interval_s,
        ascii=options.ascii or settings.ascii,
        read_only=options.read_only or settings.read_only,
    )


def forwarded(options: argparse.Namespace, settings: Settings) -> list[str]:
    """Return the arguments that the sampler needs too."""
    wanted = selection(options)
    pairs = [("--gpu", ",".join(wanted.gpus)), ("--user", ",".join(wanted.users)), ("--demo", options.demo)]
    pairs.append(("--source", options.source))
    words = [word for name, value in pairs if value for word in (name, value)]
    words += [word for query in options.where or () for word in ("--where", str(query))]
    flags = (("--only-compute", wanted.only_compute), ("--read-only", settings.read_only))
    return [*words, *(name for name, is_set in flags if is_set), "--interval", str(settings.interval_s)]
