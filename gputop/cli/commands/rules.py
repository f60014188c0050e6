"""gputop rules: alerting rules for Prometheus."""

import argparse

from gputop.app.alerting.rules import NAMES, print_rules
from gputop.app.errors import OK
from gputop.cli.args.options import add_ending


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Print alerting rules for Prometheus, as a file for its rule_files. Each rule links to a page of gputop's"
        " documents. For complete links, set runbooks in the configuration file to the URL of the documents. See"
        " docs/alerts.md."
    )
    parser.add_argument(
        "--for", dest="names", choices=NAMES, default=NAMES[0], metavar="NAMES",
        help="gputop: for the series of gputop export (default); dcgm: for a plain dcgm-exporter",
    )  # fmt: skip
    add_ending(
        parser,
        "gputop rules > /etc/prometheus/rules/gputop.yml",
        "gputop rules --for dcgm | promtool check rules",
        status="0 success, 2 bad input",
    )


def run(options: argparse.Namespace) -> int:
    """Print the rules."""
    print_rules(options.names)
    return OK
