"""Where the configuration file is: asked by whoever must not load settings when there is none."""

import os
from collections.abc import Mapping


def path(variables: Mapping[str, str] = os.environ) -> str:
    """Return the path of the file, whether there is one or not."""
    folder = variables.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(folder):  # such a value is to be passed over, says the XDG specification
        folder = os.path.join(variables.get("HOME") or os.path.expanduser("~"), ".config")
    return os.path.join(folder, "gputop", "config.toml")
