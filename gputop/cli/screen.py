"""gputop without a command: the screen, and its sampler as a child."""

import argparse
import gc
import os
import sys

from gputop.cli.arguments import OK, selection


def add(parser: argparse.ArgumentParser) -> None:
    """Add the screen's options."""
    parser.add_argument(
        "--theme", choices=("auto", "dark", "light", "high-contrast", "monochrome", "16-colour"), default="auto",
        help="colours (default: as the terminal can)",
    )  # fmt: skip
    parser.add_argument("--density", choices=("auto", "compact", "detailed"), default="auto", help="of the GPU panels")
    parser.add_argument("--ascii", action="store_true", help="no signs beyond ASCII")


def run(options: argparse.Namespace) -> int:
    """Show the screen; without a terminal print a snapshot instead."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        from gputop.cli import snapshot

        options.format, options.wait = "table", snapshot.FIRST_WAIT_S
        return snapshot.run(options)
    from gputop.wire.client import Client, sampler_command

    link = Client(sampler_command(_forwarded(options)))  # it reads while the screen is still importing
    gc.enable()
    from gputop.ui.app import GputopApp
    from gputop.ui.options import Density, ViewOptions

    view = ViewOptions(
        theme=options.theme,
        density=Density(options.density),
        is_ascii=options.ascii or not _speaks_unicode(),
        own_user=os.environ.get("USER"),
    )
    GputopApp(link, view).run(mouse=True)
    return OK


def _speaks_unicode() -> bool:
    """Say whether the terminal shows more than ASCII; the Linux console lacks braille."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8" and os.environ.get("TERM") != "linux"


def _forwarded(options: argparse.Namespace) -> list[str]:
    """Return the arguments that the sampler needs too."""
    wanted = selection(options)
    pairs = [("--gpu", ",".join(wanted.gpus)), ("--user", ",".join(wanted.users)), ("--demo", options.demo)]
    words = [word for name, value in pairs if value for word in (name, value)]
    words += [word for query in options.where or () for word in ("--where", str(query))]
    return [*words, *(["--only-compute"] if wanted.only_compute else []), "--interval", str(options.interval)]
