"""Probes from the main screen: one at a time, and its end is shown until the user has seen it."""

from fake_host import FakeHost
from probe_app import FakeProber

from gputop.core.probing.progress import Wish
from gputop.core.settings.settings import Settings
from gputop.ui.screens.main.probe_actions import ProbeActions
from gputop.ui.screens.probe.page import ProbeScreen


def made(host: FakeHost) -> ProbeActions:
    return ProbeActions(host)


def test_a_screen_without_a_prober_says_that_there_is_nothing_to_test() -> None:
    host = FakeHost()

    made(host).open()

    assert len(host.screens) == 1
    assert len(host.notices) == 1


def test_a_read_only_screen_starts_no_probe() -> None:
    prober = FakeProber()
    host = FakeHost(prober=prober, settings=Settings(read_only=True))
    probe = made(host)

    probe.open()
    probe.start(Wish(gpus=("GPU-1",)))

    assert (len(host.screens), prober.wishes) == (1, [])


def test_a_probe_is_in_the_view_while_it_runs() -> None:
    prober = FakeProber()
    host = FakeHost(prober=prober)
    probe = made(host)
    probe.open()
    assert isinstance(host.top, ProbeScreen)

    probe.start(Wish(gpus=("GPU-1",)))

    assert host.view.probing == prober.run


def test_a_probe_that_ended_unseen_stays_in_the_view_until_its_page_opens() -> None:
    prober = FakeProber()
    host = FakeHost(prober=prober)
    probe = made(host)
    probe.start(Wish(gpus=("GPU-1",)))
    prober.tell(problem="the worker died")
    probe.show_progress(())
    assert host.view.probing is not None
    assert host.notices == ["probe: the worker died"]

    probe.open()

    assert host.view.probing is None
