"""The fleet screen: hosts as a table and as a map, filter, order, one host, servers that fail."""

from collections.abc import Callable, Sequence
from threading import Event
from typing import Final

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from gputop.core.fleet.groups import JOB, grouped
from gputop.core.fleet.history import FleetCurve, FleetHistory, Stretch, Subject
from gputop.core.fleet.model import Fleet, FleetGpu, FleetHost, FleetServer, Holding, totals
from gputop.core.protocol.link import Down
from gputop.ui.fleet_app import FleetApp
from gputop.ui.input.keymap import keymap
from gputop.ui.render.line_widget import FastLines
from gputop.ui.screens.fleet.history import FleetHistoryPage
from gputop.ui.screens.fleet.host_page import HostPage
from gputop.ui.screens.fleet.job_lines import job_lines
from gputop.ui.screens.fleet.job_page import JobPage
from gputop.ui.screens.fleet.keys_page import KeysPage
from gputop.ui.screens.fleet.options import FleetOptions

_GIB: Final = 1024**3


def _host(name: str, uses: str) -> FleetHost:
    loads = {"busy": 90.0, "idle": 0.0, "free": 0.0, "lost": None}
    gpus = tuple(
        FleetGpu(
            index=str(index), use=use, utilization_percent=loads[use], xid=79 if use == "lost" else 0,
            memory_used_bytes=0 if use == "free" else 40 * _GIB, memory_total_bytes=80 * _GIB,
        )
        for index, use in enumerate(uses.split())
    )  # fmt: skip
    return FleetHost(name=name, server="p:9090", instances=(f"{name}:9400",), gpus=gpus, power_w=700.0)


def _fleet(*hosts: FleetHost, problems: tuple[str, ...] = ()) -> Fleet:
    server = FleetServer(name="p:9090", took_s=0.1, problems=problems)
    return Fleet(time_s=0.0, totals=totals(hosts), servers=(server,), hosts=hosts)


HOSTS: Final = _fleet(
    _host("n1", "busy busy"), _host("n2", "free free"), _host("n10", "idle lost"),
    FleetHost(name="n11", server="p:9090", instances=("n11:9400",), problem="down"),
)  # fmt: skip


class _Source:
    """Servers that answer what a test says, and remember what they were asked for."""

    def __init__(self, read: Callable[[], Fleet]) -> None:
        self._read = read
        self.asked: list[tuple[Subject, Stretch]] = []
        self.detailed: set[str] = set()

    def read(self, *, is_urgent: bool = False, detailed: Sequence[str] = ()) -> Fleet:  # noqa: ARG002
        self.detailed.update(detailed)
        return self._read()

    def history(self, subject: Subject, stretch: Stretch) -> FleetHistory:
        self.asked.append((subject, stretch))
        curve = FleetCurve(key="util", values=(50.0,) * len(stretch.times))
        return FleetHistory(subject=subject, stretch=stretch, curves=(curve,), problems=("power: too long",))


def _app(read: Callable[[], Fleet] = lambda: HOSTS) -> FleetApp:
    return FleetApp(_Source(read), FleetOptions(keys=keymap("gputop"), writes_changes_only=False))


def _text(app: FleetApp) -> list[str]:
    parts = (app.fleet_screen.head, app.fleet_screen.body, app.fleet_screen.foot)
    return ["".join(text for text, _ in line.spans).rstrip() for part in parts for line in part.lines]


async def _until(pilot: "Pilot[Down]", app: FleetApp, word: str) -> str:
    for _ in range(1000):
        text = "\n".join(_text(app))
        if word in text:
            return text
        await pilot.pause(0.01)
    pytest.fail(f"no {word!r} in\n{text}")


def _names(text: str) -> list[str]:
    return [line.split()[0] for line in text.splitlines() if line.startswith(" n")]


async def test_hosts_are_rows_with_a_cell_per_gpu_below_the_totals() -> None:
    async with _app().run_test(size=(120, 24)) as pilot:
        app = pilot.app
        assert isinstance(app, FleetApp)
        text = await _until(pilot, app, "HOST")
        assert "4 hosts (1 down) · 6 GPUs · 2 busy · 1 idle · 2 free · 1 lost" in text
        assert _names(text) == ["n1", "n2", "n10", "n11"]
        assert " n1   ██" in text
        assert " n2   ··" in text
        assert " n10  ox" in text
        assert "down" in text


async def test_a_filter_keeps_matching_hosts_and_counts_only_those_and_escape_removes_it() -> None:
    async with _app().run_test(size=(120, 24)) as pilot:
        app = pilot.app
        assert isinstance(app, FleetApp)
        await _until(pilot, app, "HOST")
        await pilot.press("f4", *"free>=2", "enter")
        text = await _until(pilot, app, "only free>=2")
        assert _names(text) == ["n2"]
        assert "1 host · 2 GPUs · 2 free" in text
        await pilot.press("escape")
        assert _names(await _until(pilot, app, "4 hosts")) == ["n1", "n2", "n10", "n11"]
        await pilot.press("f4", *"fre>1")
        assert "Did you mean free?" in await _until(pilot, app, "filter:")


async def test_sorting_puts_the_most_free_gpus_first_and_keeps_the_cursor_on_its_host() -> None:
    async with _app().run_test(size=(120, 24)) as pilot:
        app = pilot.app
        assert isinstance(app, FleetApp)
        await _until(pilot, app, "HOST")
        await pilot.press("down", "down", "full_stop")
        assert _names(await _until(pilot, app, "sorted by FREE")) == ["n2", "n1", "n10", "n11"]
        lines = app.fleet_screen.body.lines
        chosen = ["".join(text for text, _ in line.spans).split()[0] for line in lines if line.base == "cursor"]
        assert chosen == ["n10"]


async def test_enter_shows_one_host_with_its_gpus_and_escape_goes_back() -> None:
    async with _app().run_test(size=(120, 40)) as pilot:
        app = pilot.app
        assert isinstance(app, FleetApp)
        await _until(pilot, app, "HOST")
        await pilot.press("down", "down", "enter")
        page = app.screen
        assert isinstance(page, HostPage)
        lines = ["".join(text for text, _ in line.spans) for line in page.body.lines]
        assert any("GPU 1" in line and "lost" in line and "Xid 79" in line for line in lines)
        await pilot.press("escape")
        assert app.screen is app.fleet_screen


async def test_a_thousand_hosts_fit_a_map_of_one_screen() -> None:
    fleet = _fleet(*(_host(f"n{number:04d}", "busy free") for number in range(1000)))
    async with _app(lambda: fleet).run_test(size=(120, 30)) as pilot:
        app = pilot.app
        assert isinstance(app, FleetApp)
        await _until(pilot, app, "HOST")
        await pilot.press("v", "end")
        await _until(pilot, app, "n0999")
        body: FastLines = app.fleet_screen.body
        cells = ["".join(text for text, _ in line.spans).split()[-1] for line in body.lines[1:]]
        assert sum(map(len, cells)) == 1000
        assert len(body.lines) <= body.size.height


async def test_a_server_that_fails_is_named_and_the_screen_goes_on() -> None:
    answers = iter([_fleet(problems=("nothing listens there",)), HOSTS])
    async with _app(lambda: next(answers, HOSTS)).run_test(size=(100, 24)) as pilot:
        app = pilot.app
        assert isinstance(app, FleetApp)
        await _until(pilot, app, "p:9090: nothing listens there")
        await pilot.press("ctrl+r")
        assert "nothing listens" not in await _until(pilot, app, "4 hosts")


async def test_a_narrow_terminal_keeps_names_cells_and_load() -> None:
    async with _app().run_test(size=(36, 12)) as pilot:
        app = pilot.app
        assert isinstance(app, FleetApp)
        text = await _until(pilot, app, "HOST")
        (title,) = [line for line in text.splitlines() if line.startswith(" HOST")]
        assert {"EACH", "UTIL"} <= set(title.split())
        assert all(len(line) <= 36 for line in text.splitlines() if line.startswith(" n"))


async def test_the_screen_answers_keys_while_a_server_does_not_answer() -> None:
    released = Event()

    def read() -> Fleet:
        released.wait(60)
        return HOSTS

    try:
        async with _app(read).run_test(size=(100, 24)) as pilot:
            app = pilot.app
            assert isinstance(app, FleetApp)
            assert "asking …" in await _until(pilot, app, "asking")
            await pilot.press("v")
            assert "map" in await _until(pilot, app, " map ")
            released.set()
            await _until(pilot, app, "4 hosts")
    finally:
        released.set()


async def test_a_terminal_of_80_columns_shows_all_totals_and_help_names_the_keys() -> None:
    fleet = _fleet(*(_host(f"alpha-{number:03d}", "busy idle free lost") for number in range(128)))
    async with _app(lambda: fleet).run_test(size=(80, 24)) as pilot:
        app = pilot.app
        assert isinstance(app, FleetApp)
        assert "128 idle · 128 free · 128 lost" in (await _until(pilot, app, "HOST"))
        assert all(len(line) <= 80 for line in _text(app)[:3])
        await pilot.press("f1")
        page = app.screen
        assert isinstance(page, KeysPage)
        assert any("Leave a group, or remove the filter." in text for line in page.body.lines for text, _ in line.spans)


async def test_users_are_rows_and_enter_shows_the_hosts_of_one_and_escape_goes_back() -> None:
    held = Holding(user="ann", count=2, gpus=("0", "1"))
    fleet = _fleet(
        replace(_host("n1", "busy idle"), holdings=(held,)), replace(_host("n2", "idle idle"), holdings=(held,)),
        _host("n3", "free free"),
    )  # fmt: skip
    async with _app(lambda: fleet).run_test(size=(100, 24)) as pilot:
        app = pilot.app
        assert isinstance(app, FleetApp)
        await _until(pilot, app, "HOST")
        await pilot.press("A")
        text = await _until(pilot, app, "by user")
        (row,) = [line.split() for line in text.splitlines() if line.startswith(" ann")]
        assert row[:5] == ["ann", "2", "4", "1", "3"]
        await pilot.press("enter")
        assert _names(await _until(pilot, app, "only user ann")) == ["n1", "n2"]
        await pilot.press("escape")
        await _until(pilot, app, "by user")
        await pilot.press("A")
        assert _names(await _until(pilot, app, "HOST")) == ["n1", "n2", "n3"]


async def test_without_gputop_export_the_view_of_users_says_why_it_is_empty() -> None:
    async with _app().run_test(size=(100, 24)) as pilot:
        app = pilot.app
        assert isinstance(app, FleetApp)
        await _until(pilot, app, "HOST")
        await pilot.press("A")
        await _until(pilot, app, "no user is known: gputop export runs on none of these hosts")
        await pilot.resize_terminal(50, 24)
        await pilot.press("J")
        text = await _until(pilot, app, "no job is known")
        assert "has a label hpc_job or pod" in " ".join(text.split())


async def _page_text(pilot: "Pilot[Down]", app: FleetApp, word: str) -> str:
    for _ in range(1000):
        page = app.screen
        if isinstance(page, FleetHistoryPage):
            text = "\n".join("".join(text for text, _ in line.spans) for line in page.body.lines)
            if word in text:
                return f"{page.title_line()}\n{text}"
        await pilot.pause(0.01)
    pytest.fail(f"no {word!r} in the page")


async def test_history_of_the_host_under_the_cursor_zooms_to_weeks_and_shows_what_is_missing() -> None:
    source = _Source(lambda: HOSTS)
    app = FleetApp(source, FleetOptions(keys=keymap("gputop"), writes_changes_only=False))
    async with app.run_test(size=(120, 40)) as pilot:
        await _until(pilot, app, "HOST")
        await pilot.press("down", "b")
        text = await _page_text(pilot, app, "50%")
        assert "History · host n2 · p:9090" in text
        assert "power: too long" in text
        await pilot.press("minus", "minus", "minus", "minus")
        assert "28d" in await _page_text(pilot, app, "each value: mean of 3h")
        assert all(len(stretch.times) <= 240 for _, stretch in source.asked)
        await pilot.press("1")
        assert "GPU 1" in await _page_text(pilot, app, "GPU")
        assert source.asked[-1][0].instances == ("n2:9400",)
        await pilot.press("escape")
        assert app.screen is app.fleet_screen


def _lines_of(page: JobPage) -> list[str]:
    return ["".join(text for text, _ in line.spans).rstrip() for line in page.body.lines]


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_enter_on_a_job_shows_its_ranks_and_the_straggler_and_enter_there_its_hosts(
    size: tuple[int, int],
) -> None:
    held = (Holding(user="ann", job="slurm:7", count=2, gpus=("0", "1")),)
    hosts = [replace(_host(f"n{number}", "busy busy"), holdings=held) for number in range(4)]
    slow = replace(hosts[2].gpus[1], utilization_percent=20.0, power_w=180.0)
    hosts[2] = replace(hosts[2], gpus=(hosts[2].gpus[0], slow))
    source = _Source(lambda: _fleet(*hosts, _host("n9", "free free")))
    app = FleetApp(source, FleetOptions(keys=keymap("gputop"), writes_changes_only=False))
    async with app.run_test(size=size) as pilot:
        await _until(pilot, app, "HOST")
        await pilot.press("J")
        await _until(pilot, app, "slurm:7")
        await pilot.press("enter")
        page = app.screen
        assert isinstance(page, JobPage)
        lines = _lines_of(page)
        assert "ranks       8 GPUs on 4 hosts" in lines
        assert "straggler   n2 GPU 1: utilization 20%, others 90%" in lines
        assert "host        n2: utilization 55%, others 90%" in lines
        at = next(at for at, line in enumerate(lines) if line.startswith("n2") and "20%" in line)
        assert "180W" in lines[at]
        assert "utilization 20%, others 90%" in "".join(lines[at : at + 2])
        assert all(len(line) <= page.room[0] for line in lines)
        while source.detailed != {f"n{number}:9400" for number in range(4)}:
            await pilot.pause(0.01)
        await pilot.press("enter")
        assert _names(await _until(pilot, app, "only job slurm:7")) == ["n0", "n1", "n2", "n3"]


async def test_a_job_that_ends_while_its_page_is_open_stays_as_it_was_last() -> None:
    held = replace(_host("n1", "busy busy"), holdings=(Holding(user="ann", job="slurm:7", count=1, gpus=("0",)),))
    answers = [_fleet(held)]
    async with _app(lambda: answers[-1]).run_test(size=(120, 40)) as pilot:
        app = pilot.app
        assert isinstance(app, FleetApp)
        await _until(pilot, app, "HOST")
        await pilot.press("J")
        await _until(pilot, app, "slurm:7")
        await pilot.press("enter")
        page = app.screen
        assert isinstance(page, JobPage)
        assert "unknown: a comparison needs at least three ranks" in "".join(_lines_of(page))
        answers.append(_fleet(_host("n1", "free free")))
        app.action_read_now()
        while "no GPU any more" not in page.title_line():
            await pilot.pause(0.01)
        assert any(line.startswith("n1") for line in _lines_of(page))


async def test_the_page_of_a_job_asks_for_no_details_of_a_host_that_it_came_to_later() -> None:
    held = (Holding(user="ann", job="slurm:7", count=2, gpus=("0", "1")),)
    hosts = [replace(_host(name, "busy busy"), holdings=held) for name in ("n1", "n2")]
    answers = [_fleet(hosts[0])]
    source = _Source(lambda: answers[-1])
    app = FleetApp(source, FleetOptions(keys=keymap("gputop"), writes_changes_only=False))
    async with app.run_test(size=(120, 40)) as pilot:
        await _until(pilot, app, "HOST")
        await pilot.press("J")
        await _until(pilot, app, "slurm:7")
        await pilot.press("enter")
        answers.append(_fleet(*hosts))
        app.action_read_now()
        for _ in range(1000):
            if "n2:9400" in source.detailed:
                break
            await pilot.pause(0.01)
        assert source.detailed == {"n1:9400", "n2:9400"}


def _job_text(*uses: str, count: int) -> str:
    held = (Holding(user="ann", job="slurm:7", count=count, gpus=("0", "1")),)
    hosts = [replace(_host(f"n{number}", use), holdings=held) for number, use in enumerate(uses)]
    (job,) = grouped(hosts, JOB)
    return "\n".join("".join(text for text, _ in line.spans) for line in job_lines(job, 120))


def test_a_job_whose_gpus_report_no_load_has_no_straggler() -> None:
    wanted = "straggler   unknown: a comparison needs the load of at least three ranks"
    assert wanted in _job_text("lost lost", "lost lost", count=2)
    assert wanted in _job_text("busy busy", "lost lost", count=2)
    assert "straggler   none" in _job_text("busy busy", "busy lost", count=2)


def test_gpus_of_a_job_without_a_number_are_counted_as_known() -> None:
    assert "5 GPUs on 1 host; 2 of them are known by number\n" in _job_text("busy busy", count=5)
