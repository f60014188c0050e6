"""gputop doctor: whether this box is well."""

import argparse
import os
import sys

from msgspec.structs import replace

from gputop.cli.args.exits import USAGE, fail
from gputop.cli.args.options import add_demo, add_ending, whole
from gputop.cli.args.parser import Parser
from gputop.core.doctor.diagnose import diagnose
from gputop.core.doctor.facts import Facts
from gputop.core.doctor.verdict import Diagnosis


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    Parser.usage_status = USAGE  # of all parsers: an unknown option is reported by the outermost one
    parser.add_argument("--json", action="store_true", help="one line of JSON")
    parser.add_argument(
        "--expect",
        type=whole(0),
        metavar="N",
        help="how many GPUs there should be (default: expected_gpus of the configuration)",
    )
    add_demo(parser, box="dying")
    parser.description = (
        "Check driver, GPUs and configuration of this machine, and say what to do where it is not well.\n"
        "Nothing is changed, and no fix is executed."
    )
    add_ending(
        parser,
        "gputop doctor --expect 8",
        "gputop doctor --json | jq -r '.checks[] | select(.severity == \"fail\") | .code'",
        status="0 well, 1 warnings, 2 act now, 3 there is no GPU to check, 64 bad options",
    )


def run(options: argparse.Namespace) -> int:
    """Collect the facts, judge them and print what was found."""
    try:
        plugins = {found.entry.name: found.rejected for found in options.plugins}
        diagnosis = diagnose(replace(_facts(options), plugins=plugins))
    except ValueError as error:
        fail(USAGE, str(error))
    sys.stdout.buffer.write(_json(diagnosis) if options.json else _text(diagnosis))
    return diagnosis.status


def _facts(options: argparse.Namespace) -> Facts:
    from gputop.machine.doctor.collect import collect, real_box

    if options.demo is not None:
        from gputop.simulator import running
        from gputop.simulator.readers import doctor_box

        return collect(doctor_box(running(options.demo)), options.expect)
    return collect(real_box(), options.expect if options.expect is not None else _settled())


def _settled() -> int | None:
    """Return how many GPUs the configuration expects."""
    from gputop.app.settings.config_path import path

    if not os.path.exists(path()):
        return None
    from gputop.app.settings.settings_file import load

    return load(path())[0].expected_gpus or None


def _json(diagnosis: Diagnosis) -> bytes:
    from gputop.wire.encoder import encode

    return encode(diagnosis)


def _text(diagnosis: Diagnosis) -> bytes:
    from gputop.report.doctor import report
    from gputop.report.grid import look

    room, style = look(sys.stdout, os.environ)
    return f"{report(diagnosis, room, style)}\n".encode(sys.stdout.encoding or "utf-8", sys.stdout.errors or "replace")
