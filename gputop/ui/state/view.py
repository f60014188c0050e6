"""The state that the panels draw, as one value."""

from collections.abc import Mapping

from msgspec import Struct, field

from gputop.core.detection.watchlist import Standing
from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_USED, POWER_AVERAGE, TEMPERATURE
from gputop.core.model.finding import Finding
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, Gpu, GpuState
from gputop.core.model.units import duration_text
from gputop.core.probing.progress import Run
from gputop.core.protocol.link import Delay, Down
from gputop.core.query.free import Vacancies
from gputop.core.recording.gpu_history import History
from gputop.core.recording.playback import Playing
from gputop.core.recording.process_history import Tracks
from gputop.core.recording.recording import Recording
from gputop.ui.render.layout import Density
from gputop.ui.state.plots import Plots

PLOTTED = (GPU_UTILIZATION, MEMORY_USED, POWER_AVERAGE, TEMPERATURE)


class View(Struct, frozen=True, kw_only=True):
    """What is shown.

    ``standing``: what is wrong in the frame. ``vacancies``: the free GPUs, None if the frame does not contain all
    processes. ``tracks``: what single processes did. ``known``: each GPU as it last
    answered, by uuid. ``focus``: index of the only GPU that is drawn, enlarged. ``age_s``: since the frame came, or
    since gputop waits for the first, if that is long ago. ``retry_s``: seconds until the sampler is started again.
    ``playing``: where the recording is that is shown; ``recording``: the one that is made. ``probing``: the probe that
    runs, or has ended and was not seen yet. ``remote``: the host that ssh reaches, empty for this one; ``delay``: how
    late it is shown. ``awaited``: processes, and GPUs by uuid, that a notification is about.
    """

    history: History
    plots: Plots
    tracks: Tracks = field(default_factory=Tracks)
    frame: Frame | None = None
    standing: Standing = Standing()
    vacancies: Vacancies | None = None
    known: Mapping[str, Gpu] = {}
    focus: int | None = None
    density: Density = Density.AUTO
    interval_s: float = 1.0
    is_paused: bool = False
    age_s: float | None = None
    down: Down | None = None
    retry_s: float | None = None
    playing: Playing | None = None
    recording: Recording | None = None
    probing: Run | None = None
    remote: str = ""
    delay: Delay | None = None
    awaited: frozenset[ProcessId | str] = frozenset()

    @property
    def is_grey(self) -> bool:
        """Whether the values are old."""
        return self.age_s is not None or self.down is not None

    @property
    def waiting(self) -> str:
        """The text before the first frame."""
        so_far = "" if self.age_s is None else f" for {duration_text(self.age_s)}"
        return f"waiting for the driver…{so_far}"

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """The GPUs of the frame; none before the first."""
        return self.frame.gpus if self.frame else ()

    @property
    def shown(self) -> tuple[Gpu, ...]:
        """The GPUs that the GPU panel draws: the one in focus, or all."""
        return tuple(gpu for gpu in self.gpus if gpu.index == self.focus) or self.gpus

    @property
    def uses(self) -> int:
        """The number of processes on the GPU in focus, or on all; one on two GPUs counts twice."""
        processes = self.frame.processes if self.frame else ()
        if self.focus is None:
            return sum([len(process.gpus) for process in processes])
        return sum(use.gpu_index == self.focus for process in processes for use in process.gpus)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings that are not muted: of the GPU in focus, or all."""
        if self.focus is None:
            return self.standing.findings
        concerned = {one.key for gpu in self.shown for one in self.standing.of(gpu.uuid)}
        return tuple(one for one in self.standing.findings if one.key in concerned)

    def values(self, gpu: Gpu) -> Gpu:
        """Return the GPU with its present values, or with its last ones if it does not answer."""
        return gpu if gpu.state is GpuState.OK else self.known.get(gpu.uuid, gpu)

    def is_free(self, gpu: Gpu) -> bool:
        """Return whether a GPU is known to be free."""
        return self.vacancies is not None and self.vacancies.is_free(gpu)

    def is_dim(self, gpu: Gpu) -> bool:
        """Return whether a GPU is drawn dim: it does not answer."""
        return gpu.state is not GpuState.OK
