"""Generator of the man page and the shell completions in share/, from the parser."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from completions import completion
from man_page import man_page

from gputop.cli.main import whole

SHARE: Final = Path(__file__).parent.parent / "share"  # the wheel puts it into the share of its environment
FILES: Final[Mapping[str, Callable[[], str]]] = {
    "man/man1/gputop.1": lambda: man_page(whole()),
    "bash-completion/completions/gputop": lambda: completion("bash", whole()),
    "zsh/site-functions/_gputop": lambda: completion("zsh", whole()),
    "fish/vendor_completions.d/gputop.fish": lambda: completion("fish", whole()),
}


def write() -> None:
    """Write the files of share/."""
    for name, text in FILES.items():
        (SHARE / name).parent.mkdir(parents=True, exist_ok=True)
        (SHARE / name).write_text(text())
