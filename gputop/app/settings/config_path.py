"""Path of the configuration file. A module of its own: without a file, a snapshot never imports the settings."""

import os
from collections.abc import Mapping


def path(variables: Mapping[str, str] = os.environ) -> str:
    """Return the path of the file, which may not exist."""
    folder = variables.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(folder):  # the XDG specification: ignore a relative path
        folder = os.path.join(variables.get("HOME") or os.path.expanduser("~"), ".config")
    return os.path.join(folder, "gputop", "config.toml")
