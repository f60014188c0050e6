"""Rules: alerting rules for Prometheus, with links to the documents of the settings."""

from gputop.app.settings.settings_file import settled
from gputop.report.rules import DCGM, GPUTOP, to_yaml

NAMES = (GPUTOP, DCGM)


def print_rules(names: str) -> None:
    """Print the rules for one of `NAMES`."""
    print(to_yaml(names, settled().settings.runbooks), end="")
