"""gputop schema: the JSON Schema of a frame."""

import argparse
import json

from gputop.cli.arguments import OK
from gputop.report.schema import schema


def add(_: argparse.ArgumentParser) -> None:
    """Add no options."""


def run(_: argparse.Namespace) -> int:
    """Print it."""
    print(json.dumps(schema(), indent=2))
    return OK
