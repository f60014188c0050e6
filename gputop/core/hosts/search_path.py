"""The folders where a host may have gputop: a shell that is not a login shell often lacks them."""

from typing import Final

BROUGHT: Final = "~/.cache/gputop/brought"  # where a copy of gputop lies that was brought by ssh
SEARCH: Final = (
    f'PATH="$PATH:$HOME/.local/bin:$HOME/bin:/usr/local/bin:/opt/gputop/bin:{BROUGHT.replace("~", "$HOME")}/bin"; '
)
