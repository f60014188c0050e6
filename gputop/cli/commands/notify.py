"""gputop notify: send findings to Alertmanager, webhooks, Slack, mail and others."""

import argparse

from gputop.app.monitoring.notify import NotifyRequest, notify
from gputop.cli.args.options import add_common, add_ending
from gputop.cli.args.requests import request_of

RECEIVER_FORMS = (
    "the NAME of a table [receivers.NAME] in the configuration file, or alertmanager:URL, webhook:URL, slack:FILE,"
    " mail:ADDRESS, apprise:FILE, desktop. The word all sends to every receiver in the file. FILE contains the URL,"
    " because it is a secret"
)


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Send findings to receivers until you press Ctrl-C: when a suspect or an alarm begins, and when it is over."
        " Without a name, to all receivers of the configuration file. See docs/alerts.md."
    )
    parser.add_argument("receivers", nargs="*", metavar="RECEIVER", help=RECEIVER_FORMS)
    parser.add_argument(
        "--test", dest="is_test", action="store_true", help="send one test message to each receiver, then end"
    )
    add_common(parser)
    add_ending(
        parser,
        "gputop notify --test",
        "gputop notify alertmanager:http://127.0.0.1:9093",
        status="0 success, 1 some test messages failed, 2 bad input, 3 no driver, 4 all test messages failed",
    )


def run(options: argparse.Namespace) -> int:
    """Send findings, and return the exit status."""
    return notify(request_of(options, NotifyRequest))
