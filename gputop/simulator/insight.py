"""Insight into the processes of a simulated box."""

from gputop.core.insight.source import InsightSource
from gputop.machine.insight.explainer import Explainer
from gputop.machine.insight.kernel import report_of
from gputop.simulator import Box


def explainer_of_box(box: Box) -> Explainer:
    """Return the explainer of the processes of a box."""
    kernel = InsightSource(name="kernel", title="Kernel", ask=lambda members, _: report_of(box.proc, members))
    return Explainer((kernel,), box.proc)
