"""The words on the fleet screen when a server is in trouble, and that they go when it is well again."""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_server import PATIENCE_S, PROMETHEUS, configure, exporters, started
from prometheus_stub import World, serving
from textual.pilot import Pilot

from gputop.app.fleet.readers import reader_of
from gputop.app.fleet.request import FleetRequest
from gputop.core.protocol.link import Down
from gputop.ui.fleet_app import FleetApp
from gputop.ui.input.keymap import keymap
from gputop.ui.screens.fleet.options import FleetOptions

_TIMES = 3000  # of 10 ms and more


def _app(url: str, timeout_s: float) -> FleetApp:
    reader = reader_of(FleetRequest(prometheus=(url,), timeout_s=timeout_s))
    return FleetApp(reader, FleetOptions(keys=keymap("gputop"), writes_changes_only=False, interval_s=0.05))


async def _until(pilot: "Pilot[Down]", app: FleetApp, *words: str, without: str = "\0") -> None:
    """Ask again and again until the screen has all words, and not the one."""
    for _ in range(_TIMES):
        parts = (app.fleet_screen.head, app.fleet_screen.body)
        text = "\n".join("".join(text for text, _ in line.spans) for part in parts for line in part.lines)
        if all(word in text for word in words) and without not in text:
            return
        app.action_read_now()
        await pilot.pause(0.01)
    pytest.fail(f"no {words!r}, or still {without!r}, in\n{text}")


def _slow(world: World) -> None:
    world.released.clear()


def _wrong(world: World) -> None:
    world.body = b"<html>hello"


def _unauthorised(world: World) -> None:
    world.bearer = "secret"


def _restarting(world: World) -> None:
    world.status = 503


def _empty(world: World) -> None:
    world.hosts = []


def _other(world: World) -> None:
    world.hosts, world.other = [], "nvidia_smi_temperature_gpu"


def _old(world: World) -> None:
    world.age_s = 250.0


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (_slow, "no answer within 1 s; values of"),
        (_wrong, "it is no Prometheus API (HTTP 200)"),
        (_unauthorised, "it refuses access (HTTP 401): give credentials with --http-config"),
        (_restarting, "it is starting or overloaded (HTTP 503)"),
        (_empty, "it has no series of GPUs"),
        (_other, "it has GPUs by other names (nvidia_smi_temperature_gpu)"),
        (_old, "old values"),
    ],
)
async def test_a_server_in_trouble_has_no_words_or_keeps_them_when_it_is_well_again(
    trouble: Callable[[World], None], words: str
) -> None:
    world = World()
    with serving(world) as url:
        app = _app(url, 1.0)
        async with app.run_test(size=(160, 24)) as pilot:
            await _until(pilot, app, "2 hosts", "N1", "N2")
            trouble(world)
            await _until(pilot, app, words, "N1", "N2")  # the hosts stay
            world.released.set()
            world.__init__()  # type: ignore[misc] # well again
            await _until(pilot, app, "2 hosts", "N1", without=words)


@pytest.mark.skipif(PROMETHEUS is None, reason="there is no prometheus on this machine (Debian: prometheus)")
def test_a_real_prometheus_that_restarts_leaves_no_words_or_leaves_them_for_ever(tmp_path: Path) -> None:
    with exporters() as port:
        configure(tmp_path, ["host0001"], port)
        asyncio.run(_restart(tmp_path))


async def _restart(folder: Path) -> None:
    child, url = started(folder)
    try:
        app = _app(url, 5.0)
        async with app.run_test(size=(160, 24)) as pilot:
            await _until(pilot, app, "1 host ", "host0001", "8 busy")
            child.send_signal(signal.SIGTERM)
            child.wait(PATIENCE_S)
            await _until(pilot, app, "nothing listens there; values of", "host0001")
            child, _ = started(folder, int(url.rpartition(":")[2]))
            await _until(pilot, app, "1 host ", "host0001", "8 busy", without="nothing listens there")
    finally:
        child.kill()
        child.wait(PATIENCE_S)
