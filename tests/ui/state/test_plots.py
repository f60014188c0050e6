"""The plots of the screen grow sample by sample."""

from examples import frame, gpu
from msgspec.structs import replace

from gputop.core.model.catalogue import GPU_UTILIZATION
from gputop.core.recording.gpu_history import History
from gputop.ui.state.plots import Plots


def test_a_plot_that_grew_is_the_plot_that_is_drawn_anew() -> None:
    history = History([GPU_UTILIZATION])
    grown = Plots(history)
    for second in range(100):
        of = gpu(0, {GPU_UTILIZATION: second * 7 % 101})
        history.remember(replace(frame(0), gpus=(of,)))
        name, key, size = of.uuid, GPU_UTILIZATION.key, (20, 3)

        assert grown.draw(name, key, 100.0, size) == Plots(history).draw(name, key, 100.0, size)
