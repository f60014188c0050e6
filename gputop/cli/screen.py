"""gputop without a command: the screen, and its sampler as a child."""

import argparse
import gc
import os
import sys

from gputop.cli.arguments import BAD_INPUT, OK, selection


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
    down = GputopApp(link, view).run(mouse=True)
    if down is None:
        return OK
    print(down.reason, file=sys.stderr)  # the sampler's own words
    return BAD_INPUT if down.status is None else down.status


def _speaks_unicode() -> bool:
    """Say whether the terminal shows more than ASCII; the Linux console lacks braille."""
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8" and os.environ.get("TERM") != "linux"


def _forwarded(options: argparse.Namespace) -> list[str]:
    """Return the arguments that the sampler needs too."""
    wanted = selection(options)
    pairs = [("--gpu", ",".join(wanted.gpus)), ("--user", ",".join(wanted.users)), ("--demo", options.demo)]
    words = [word for name, value in pairs if value for word in (name, value)]
    words += [word for query in options.where or () for word in ("--where", str(query))]
    flags = (("--only-compute", wanted.only_compute), ("--read-only", options.read_only))
    return [*words, *(name for name, is_set in flags if is_set), "--interval", str(options.interval)]
