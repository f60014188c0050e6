"""gputop serve --wall as browsers see it: a real server on a real socket, on a simulated machine."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from web_servers import PATIENCE_S, Served, serving


@pytest.fixture(scope="module")
def wall() -> Iterator[Served]:
    with serving("--wall", "--demo", "trouble", "--interval", "0.1") as served:
        yield served


def test_the_page_and_its_parts_are_there(wall: Served) -> None:
    status, page = wall.get()

    assert status == 200
    parts = re.findall(r'(?:src|href)="([a-z.]+)"', page)
    assert len(parts) == 4
    assert [wall.get(part)[0] for part in parts] == [200] * 4
    assert wall.get("passwd")[0] == 404


def test_frames_have_findings_gpus_and_users(wall: Served) -> None:
    first, last = wall.frames(1)[0], wall.frame_with("findings")

    assert [gpu["index"] for gpu in first["gpus"]] == list(range(8))
    assert last["findings"][0]["stage"] == "alarm"
    assert {"ann", "bob", "chen", "dora"} <= {user["name"] for user in first["users"]}
    assert last["time_s"] > first["time_s"]


def test_a_new_visitor_gets_the_past_of_the_plots(wall: Served) -> None:
    wall.frames(3)
    with wall.connect(f"{wall.below}events") as response:
        lines = iter(response.readline, b"")
        past = next(line for line in lines if line.startswith(b"data: "))

    assert past.count(b'"7":[') >= 3


def test_no_command_line_reaches_the_wall_unless_it_is_wanted(wall: Served) -> None:
    assert "ablate.py" not in str(wall.frames(1))

    with serving("--wall", "--demo", "trouble", "--commands") as served:
        assert "ablate.py" in str(served.frames(1))


def test_without_the_secret_nothing_is_shown(wall: Served) -> None:
    for path in ("/", "/events", "/wall.html", f"{wall.below[:-2]}/", "/x" + wall.below):
        with wall.connect(path) as response:
            assert response.status == 403
            assert b"not complete" in response.read()


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost:9000", 200), ("127.0.0.1", 200), ("[::1]:1", 200), ("evil.example", 403), ("evil.example:80", 403)],
)
def test_a_foreign_name_that_points_here_is_refused(wall: Served, host: str, status: int) -> None:
    assert wall.get(Host=host)[0] == status


def test_a_page_of_another_site_is_refused(wall: Served) -> None:
    assert wall.get("events", Host="localhost", Origin="https://evil.example")[0] == 403
    assert wall.get(Host="localhost:5", Origin="http://localhost:5")[0] == 200


def test_another_name_of_the_host_can_be_allowed() -> None:
    with serving("--wall", "--demo", "workstation", "--host-name", "gpu.example.org") as served:
        assert served.get(Host="gpu.example.org")[0] == 200


def test_a_visitor_who_does_not_read_delays_nobody_else(wall: Served) -> None:
    with wall.connect(f"{wall.below}events"), ThreadPoolExecutor(3) as pool:
        assert [len(frames) for frames in pool.map(lambda _: wall.frames(5), range(3))] == [5, 5, 5]


def test_pages_may_not_be_framed_kept_or_load_from_elsewhere(wall: Served) -> None:
    with wall.connect(wall.below) as response:
        headers = response.headers

    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert (headers["X-Frame-Options"], headers["Cache-Control"]) == ("DENY", "no-store")
    assert headers["Referrer-Policy"] == "no-referrer"


def test_the_secret_of_a_file_stays_the_same(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a" * 32 + "\n")

    with serving("--wall", "--demo", "workstation", "--secret-file", str(tmp_path / "secret")) as served:
        assert served.below == f"/{'a' * 32}/"


def test_a_signal_ends_it_with_success_although_visitors_listen() -> None:
    with serving("--wall", "--demo", "workstation") as served, served.connect(f"{served.below}events") as response:
        response.readline()
        served.child.send_signal(signal.SIGTERM)

        assert served.child.wait(PATIENCE_S) == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--wall", "--allow-changes"], "the wall only shows"),
        (["--commands"], "--commands belongs to --wall"),
        (["--listen", "0.0.0.0:0"], "without TLS"),
        (["--listen", "nowhere"], "is not ADDRESS:PORT"),
        (["--wall", "--secret-file", "/nonexistent"], "cannot read the secret"),
        (["--wall", "--secret-file", "SHORT"], "at least 20"),
        (["--wall", "--visitors", "0"], "visitors"),
    ],
)
def test_bad_input_ends_with_one_line_and_status_2(tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "SHORT").write_text("secret")
    arguments = [str(tmp_path / word) if word == "SHORT" else word for word in arguments]
    ended = subprocess.run(
        [sys.executable, "-m", "gputop", "serve", "--demo", "workstation", "--listen", "127.0.0.1:0", *arguments],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False, env=dict(os.environ),
    )  # fmt: skip

    assert ended.returncode == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
