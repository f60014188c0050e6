"""Which page a key opens: of the selected process, of the GPU in focus, or of the first."""

from examples import frame, process
from fake_host import FakeHost

from gputop.ui.screens.main.page_actions import PageActions
from gputop.ui.screens.mig.page import MigScreen
from gputop.ui.screens.pages.gpu import GpuScreen
from gputop.ui.screens.pages.process import ProcessScreen
from gputop.ui.state.rows import Grouping

TRAIN = process(4711, 1)


def made(host: FakeHost) -> PageActions:
    return PageActions(host)


def shown_gpu(host: FakeHost) -> int:
    assert isinstance(host.top, GpuScreen)
    return host.top.gpu.index


def test_the_selected_process_opens_its_page() -> None:
    host = FakeHost(frame(processes=(TRAIN,)))
    host.select(TRAIN)

    made(host).process()

    assert isinstance(host.top, ProcessScreen)


def test_without_a_selection_the_first_gpu_is_shown() -> None:
    host = FakeHost()

    made(host).process()

    assert shown_gpu(host) == 0


def test_the_gpu_of_the_selected_process_is_shown_unless_another_is_in_focus() -> None:
    host = FakeHost(frame(2, processes=(TRAIN,)))
    host.select(TRAIN)
    made(host).gpu()
    assert shown_gpu(host) == 1

    host.change(focus=0)
    made(host).gpu()

    assert shown_gpu(host) == 0


def test_a_part_of_no_process_says_how_to_select_one() -> None:
    host = FakeHost()

    made(host).process("environment")

    assert len(host.screens) == 1
    assert "process" in host.notices[0]


def test_a_group_folds_in_the_place_of_a_page() -> None:
    host = FakeHost(frame(processes=(TRAIN,)))
    host.processes.group(Grouping.USER)
    host.processes.move(0)

    made(host).process()

    assert len(host.screens) == 1
    assert host.processes.selected_line is not None
    assert host.processes.selected_line.is_open is False


def test_mig_of_a_gpu_that_does_not_exist_is_refused() -> None:
    host = FakeHost(frame(1))
    actions = made(host)
    actions.mig(3)
    assert host.notices == ["there is no GPU to show"]

    actions.mig(0)

    assert isinstance(host.top, MigScreen)
