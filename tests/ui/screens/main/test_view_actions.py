"""What a key changes in the view: focus, interval, pause, and one step back."""

from typing import Any

from examples import frame, gpu
from fake_host import FakeHost

from gputop.core.protocol.command import WatchHost
from gputop.ui.screens.main.search_actions import SearchActions
from gputop.ui.screens.main.target_actions import TargetActions
from gputop.ui.screens.main.view_actions import ViewActions


def made(host: FakeHost) -> ViewActions:
    search = SearchActions(host)
    target = TargetActions(host)
    return ViewActions(host, target, search)


def test_a_digit_shows_one_gpu_alone_and_again_all() -> None:
    host = FakeHost(frame(2))
    view = made(host)
    view.type_gpu(1)
    assert host.view.focus == 1

    view.type_gpu(1)

    assert host.view.focus is None


def test_two_digits_in_a_row_are_one_number_where_there_are_so_many_gpus() -> None:
    host = FakeHost(frame(tuple(gpu(index) for index in range(16))))
    view = made(host)

    view.type_gpu(1)
    host.clock.now += 0.5
    view.type_gpu(2)

    assert host.view.focus == 12


def test_two_digits_with_a_pause_are_two_numbers() -> None:
    host = FakeHost(frame(tuple(gpu(index) for index in range(16))))
    view = made(host)

    view.type_gpu(1)
    host.clock.now += 2.0
    view.type_gpu(2)

    assert host.view.focus == 2


def test_a_gpu_that_is_missing_changes_nothing() -> None:
    host = FakeHost(frame(2))

    made(host).type_gpu(7)

    assert host.view.focus is None
    assert host.notices == ["there is no GPU 7"]


def test_a_pause_keeps_the_frame_and_its_end_shows_the_newest() -> None:
    host = FakeHost(frame(sequence=1))
    view = made(host)
    view.pause()
    host.deliver(frame(sequence=2))
    assert shown(host) == 1

    view.pause()

    assert shown(host) == 2


def test_back_takes_one_step_at_a_time() -> None:
    host = FakeHost(frame(2))
    view = made(host)
    view.type_gpu(0)
    host.processes.move(0)
    view.back()
    assert (host.processes.selected, host.view.focus) == (None, 0)

    view.back()

    assert host.view.focus is None


def shown(host: FakeHost) -> Any:
    assert host.view.frame is not None
    return host.view.frame.sequence


def test_the_details_of_the_host_are_requested_again_before_the_request_ends() -> None:
    host = FakeHost(frame(1))
    view = made(host)
    for _ in range(25):
        view.watch_host()
        host.clock.now += 1.0

    requests = [command for command in host.sent if isinstance(command, WatchHost)]
    assert len(requests) == 3
    assert requests[0].for_s > 10
