"""Settings that keys change, and what is saved of them."""

from collections.abc import Mapping

from fake_host import FakeHost

from gputop.core.settings.settings import Settings, Value
from gputop.ui.screens.main.settings_actions import SettingsActions


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
