"""Page of the keys of the fleet screen."""

from collections.abc import Sequence
from typing import Final

from gputop.core.fleet.cells import LEGEND
from gputop.core.text.fit import fit
from gputop.ui.input.keymap import Keymap, key_name
from gputop.ui.render.line import BLANK, Line
from gputop.ui.screens.pages.page import Page

_KEYS: Final = 24
_ABOUT: Final = (
    ("process", "Show one host, the ranks of a job, or the hosts of a group."),
    ("history", "Show the history of a host or group: minutes to weeks."),
    ("filter", "Keep only hosts that match: model:h100 free>=4."),
    ("back", "Leave a group, or remove the filter."), ("sort-next", "Sort by the next column."),
    ("sort-before", "Sort by the previous column."), ("invert", "Reverse the order."),
    ("view-next", "Show the next view: hosts, map, users, jobs, labels, models."),
    ("view-before", "Show the view before."), ("tree", "Show the map."), ("view-users", "Show who holds GPUs."),
    ("view-jobs", "Show the jobs."), ("read-now", "Ask the servers now."),
    ("up", "Go to the host above."), ("down", "Go to the host below."), ("page-up", "Go up a page."),
    ("page-down", "Go down a page."), ("home", "Go to the first host."), ("end", "Go to the last host."),
    ("theme", "Use the next theme."), ("quit", "Quit."),
)  # fmt: skip


class KeysPage(Page):
    """Shows what each key does."""

    title_text = "Keys"

    def __init__(self, keys: Keymap) -> None:
        super().__init__()
        self._rows = [(" ".join(map(key_name, keys.keys_of(action))), about) for action, about in _ABOUT]

    def page(self, width: int, height: int) -> Sequence[Line]:  # noqa: ARG002 - it scrolls
        """Return a line for each action, and what the characters mean."""
        rows = [Line(((fit(names, _KEYS), "key"), (about, "text"))) for names, about in self._rows if names]
        return [*rows, BLANK, Line(((LEGEND, "muted"),))]
