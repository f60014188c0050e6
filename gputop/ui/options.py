"""The options of the screen, fixed at the start."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from gputop.core.model.sample import Frame
from gputop.core.notification.notifier import Notifier
from gputop.core.plugins.panel import Panel
from gputop.core.probing.progress import Prober
from gputop.core.protocol.player import Player
from gputop.core.recording.recording import Recorder
from gputop.core.settings.settings import Settings, Value
from gputop.ui.render.layout import Density

CsvPart: TypeAlias = Literal["gpus", "processes"]


class ViewOptions(Struct, frozen=True, kw_only=True):
    """How the screen looks. ``theme`` "auto" follows the terminal; ``own_user``: whose processes are not dimmed.

    ``settings``: all that is settled, the options of the command line among it; ``problems``: lines about what could
    not be used of the file and the environment. ``save`` keeps settings for good, and says why it could not; None:
    nothing is kept. ``writes_changes_only``: see `framediff`; off writes whole lines, as Textual does. ``player``: what
    plays the recording that is shown, None where the machine itself is; ``recorder``: what records it. ``panels``:
    those of plugins; ``panel_ended`` gets, from any thread, a panel and why it was shut off.
    ``settings_file``: the path that ``save`` writes to.
    ``source``: of a plugin, where all that is shown is from that. ``prober``: what tests GPUs; None where it cannot.
    ``read_only_by``: the option, variable or file that makes the screen read-only.
    ``has_all_processes``: frames are not limited to some users or processes.
    ``own_pid``: of this process, where it may be among the processes that are shown.
    ``csv``: a frame's ``gpus`` or ``processes`` as CSV. ``keep_copy``: writes a private file of this name; returns its
    path, or raises OSError.
    ``remote``: the host that is shown, by ssh; empty for this one. ``refused``: why that host refuses all changes.
    ``lacks``: by the tag of a command, why that host does not take it.
    ``log_in``: connects again, while ssh may ask on the terminal; returns what came of it.
    ``go_to_host``: notes, as this screen ends, that the next (1) or previous (-1) of several hosts is wanted.
    ``notifier``: sends notifications by programs; None: only the terminal shows them.
    ``is_served``: a browser is the terminal, behind a pipe.
    """

    theme: str = "auto"
    is_ascii: bool = False
    density: Density = Density.AUTO
    own_user: str | None = None
    own_pid: int | None = None
    settings: Settings = Settings()
    problems: tuple[str, ...] = ()
    settings_file: str = ""
    save: Callable[[Mapping[str, Value | None]], str | None] | None = None
    writes_changes_only: bool = True
    player: Player | None = None
    recorder: Recorder | None = None
    panels: tuple[Panel, ...] = ()
    panel_ended: Callable[[str, str], None] | None = None
    source: str = ""
    prober: Prober | None = None
    read_only_by: str = "--read-only"
    has_all_processes: bool = True
    csv: Callable[[Frame, CsvPart], str] | None = None
    keep_copy: Callable[[str, bytes], str] | None = None
    notifier: Notifier | None = None
    remote: str = ""
    refused: str = ""
    lacks: Mapping[str, str] = {}
    log_in: Callable[[], str] | None = None
    go_to_host: Callable[[int], None] | None = None
    is_served: bool = False

    @property
    def refusal(self) -> str:
        """Why gputop refuses all changes; empty if it does not."""
        if self.player is not None:
            return "a recording cannot be changed"
        if self.source:
            return f"processes of {self.source}, a plugin's source, cannot be changed from here"
        if self.settings.read_only:
            return f"gputop is read-only: set by {self.read_only_by}"
        return f"{self.remote} refuses changes: {self.refused}" if self.refused else ""
