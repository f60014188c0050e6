"""Settings that keys change, and what is saved of them."""

from collections.abc import Mapping

from fake_host import FakeHost

from gputop.core.protocol.command import SetInterval
from gputop.core.settings.settings import Settings, Value
from gputop.ui.screens.main.settings_actions import SettingsActions
from gputop.ui.state.rows import Grouping


def made(host: FakeHost) -> SettingsActions:
    return SettingsActions(host)


def test_a_column_is_shown_and_hidden_again() -> None:
    host = FakeHost()
    settings = made(host)
    settings.toggle_column("container")
    assert "container" in settings.current.columns

    settings.toggle_column("container")

    assert settings.current.columns == ()


def test_the_sort_of_the_settings_is_the_sort_of_the_table() -> None:
    host = FakeHost(settings=Settings(sort="pid", sort_reversed=True))

    made(host)

    assert (host.processes.sort_key, host.processes.is_reversed) == ("pid", True)


def test_what_keys_changed_is_saved_and_only_that() -> None:
    saved: list[Mapping[str, Value | None]] = []

    def save(new: Mapping[str, Value | None]) -> None:
        saved.append(new)

    host = FakeHost(save=save)
    settings = made(host)
    settings.toggle_host()
    host.processes.sort_by("pid")
    settings.save()
    settings.save()

    assert saved == [{"show_host": False, "sort": "pid"}]
    assert host.notices == ["saved: show_host, sort", "no setting has changed"]


def test_a_file_that_cannot_be_written_is_an_error_and_saving_again_tries_again() -> None:
    host = FakeHost(save=lambda _: "the disk is full")
    settings = made(host)
    settings.toggle_host()

    settings.save()
    settings.save()

    assert host.notices == ["not saved: the disk is full"] * 2


def test_the_interval_takes_the_next_step_and_the_sampler_gets_it() -> None:
    host = FakeHost()

    made(host).step_interval(1)

    assert host.sent == [SetInterval(2.0)]
    assert host.view.interval_s == 2.0


def test_an_interval_that_a_key_chose_is_not_lost_but_saved() -> None:
    saved: list[Mapping[str, Value | None]] = []
    host = FakeHost(save=saved.append)
    settings = made(host)

    settings.step_interval(1)
    settings.save()

    assert saved == [{"interval_s": 2.0}]


def test_in_groups_the_same_key_folds_and_leaves_the_interval() -> None:
    host = FakeHost()
    host.processes.group(Grouping.USER)

    made(host).step_interval(-1)

    assert host.sent == []
    assert len(host.rows) == 2  # titles of the grouping and one folded group
