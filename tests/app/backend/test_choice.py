"""Choice of the backend: real, simulated, or a plugin's source; nothing is read before it is needed."""

import os

import pytest

from gputop.app.backend.backend import BackendRequest, Viewer
from gputop.app.backend.choice import open_backend
from gputop.app.backend.operations.choice import open_control, open_operations
from gputop.app.backend.operations.read_only import ReadOnlyControl
from gputop.app.backend.plugin_source import PluginBackend
from gputop.app.backend.real import RealBackend
from gputop.app.backend.simulated import SimulatedBackend
from gputop.app.control.mig.survey import survey
from gputop.app.errors import BadRequestError
from gputop.core.protocol.command import Inspect, ReadMig, ReadStatus, SendSignal, Target
from gputop.core.query.selection import Selection

FOREIGN = BackendRequest(source="queue:main")


@pytest.mark.parametrize(
    ("request_", "kind"),
    [
        (BackendRequest(), RealBackend),
        (BackendRequest(demo="training"), SimulatedBackend),
        (FOREIGN, PluginBackend),
    ],
)
def test_the_request_chooses_the_backend(request_: BackendRequest, kind: type) -> None:
    assert isinstance(open_backend(request_), kind)


@pytest.mark.parametrize(
    "request_",
    [
        BackendRequest(demo="nowhere"),
        BackendRequest(demo="training", selection=Selection(gpus=("99",))),
        FOREIGN,
    ],
)
def test_a_box_gpu_or_source_that_does_not_exist_is_a_bad_request(request_: BackendRequest) -> None:
    with pytest.raises(BadRequestError, match="no "):
        open_backend(request_).source(is_once=True)


def test_gputop_itself_runs_only_on_the_real_host() -> None:
    assert open_backend(BackendRequest()).viewer().pid == os.getpid()
    assert open_backend(BackendRequest(demo="training")).viewer() == Viewer("ann")
    assert open_backend(FOREIGN).viewer().pid is None


def test_only_a_simulated_box_has_a_notice() -> None:
    notices = [open_backend(each).notice[:9] for each in (BackendRequest(), BackendRequest(demo="mig"), FOREIGN)]

    assert notices == ["", "SIMULATED", ""]


def test_operations_on_the_samples_of_a_plugin_say_that_there_are_none() -> None:
    operations = open_operations(FOREIGN)

    assert "beyond the table" in operations.inspect(Inspect(id="1", pid=7)).problem
    assert operations.process_status(ReadStatus(id="1", targets=(Target(7, 70),))).statuses == ()
    assert "does not report MIG layouts" in survey(operations)(ReadMig(id="1")).problem
    with pytest.raises(BadRequestError):
        operations.facts(None)


@pytest.mark.parametrize("request_", [BackendRequest(demo="training", read_only=True), FOREIGN])
def test_read_only_and_plugin_boxes_refuse_every_change(request_: BackendRequest) -> None:
    control = open_control(request_, frozenset())
    outcome = control.execute(SendSignal(id="1", signal="SIGTERM", targets=(Target(7, 70),)))

    assert isinstance(control, ReadOnlyControl)
    assert outcome.none_worked
    assert control.living((Target(7, 70),)) == (Target(7, 70),)
