"""Order, grouping and users of the process table."""

from examples import frame, process
from fake_host import FakeHost

from gputop.ui.screens.dialogs.menu import MenuScreen
from gputop.ui.screens.main.table_actions import TableActions
from gputop.ui.state.rows import Grouping

ANN, BOB = process(4711, user="ann"), process(4712, user="bob")


def made(host: FakeHost) -> TableActions:
    return TableActions(host)


def two() -> FakeHost:
    return FakeHost(frame(processes=(ANN, BOB)))


def test_a_chord_sorts_by_the_column_of_its_letter() -> None:
    host = two()
    table = made(host)
    table.start_chord()
    assert table.is_chord

    table.end_chord("p")

    assert (table.is_chord, host.processes.sort_key, host.processes.is_reversed) == (False, "pid", False)


def test_a_capital_turns_the_order_of_a_chord_round() -> None:
    host = two()
    table = made(host)

    table.end_chord("P")

    assert (host.processes.sort_key, host.processes.is_reversed) == ("pid", True)


def test_a_chord_with_another_letter_changes_nothing() -> None:
    host = two()

    made(host).end_chord("ä")

    assert host.processes.sort_key == "gpu"


def test_groupings_go_round_in_both_directions() -> None:
    host = two()
    table = made(host)
    table.group(-1)
    last = host.processes.grouping

    table.group(1)

    assert [last, host.processes.grouping] == [Grouping.GPU, Grouping.PROCESSES]


def test_the_own_processes_alone_and_again_all() -> None:
    host = two()
    table = made(host)
    table.mine()
    assert host.processes.counts == (1, 1)

    table.mine()

    assert host.processes.counts == (2, 0)


def test_a_menu_chooses_the_user() -> None:
    host = two()
    made(host).choose_user()
    assert isinstance(host.top, MenuScreen)

    host.close("bob")

    assert host.processes.row_filter.user == "bob"
