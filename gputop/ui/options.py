"""What the user wants of the screen, as given at the start."""

from collections.abc import Callable, Mapping
from enum import Enum

from msgspec import Struct

from gputop.core.settings import Settings, Value


class Density(str, Enum):
    """How much room a GPU takes: as fits, one line, or a card with plots."""

    AUTO = "auto"
    COMPACT = "compact"
    DETAILED = "detailed"


class ViewOptions(Struct, frozen=True, kw_only=True):
    """How the screen looks. ``theme`` "auto" follows the terminal; ``own_user``: whose processes are not dimmed.

    ``settings``: all that is settled, the options of the command line among it; ``problems``: lines about what could
    not be used of the file and the environment. ``save`` keeps settings for good, and says why it could not; None:
    nothing is kept. ``writes_changes_only``: see `framediff`; off writes whole lines, as Textual does.
    """

    theme: str = "auto"
    is_ascii: bool = False
    density: Density = Density.AUTO
    own_user: str | None = None
    settings: Settings = Settings()
    problems: tuple[str, ...] = ()
    save: Callable[[Mapping[str, Value | None]], str | None] | None = None
    writes_changes_only: bool = True
