"""gputop serve as browsers see it: real websockets, each with a screen of its own, on a simulated machine."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

import aiohttp
import psutil
import pyte
import pytest
from web_servers import PATIENCE_S, Served, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("--demo", "training", "--visitors", "100") as served:  # those of earlier tests may still be ending
        yield served


class Browser:
    """A terminal behind a websocket."""

    def __init__(self, link: "aiohttp.ClientWebSocketResponse[bool]") -> None:
        self.link = link
        self._screen = pyte.Screen(120, 40)
        self._stream = pyte.ByteStream(self._screen)

    async def press(self, keys: str) -> None:
        await self.link.send_json(["stdin", keys])

    async def until(self, wanted: Callable[[str], bool]) -> str:
        """Return the text of the screen as soon as it is as wanted."""
        end = time.monotonic() + PATIENCE_S
        while not wanted(text := "\n".join(self._screen.display)):
            assert time.monotonic() < end, text
            message = await self.link.receive(PATIENCE_S)
            assert message.type is aiohttp.WSMsgType.BINARY, f"{message.type} after {text}"
            self._stream.feed(message.data)
        return text


@asynccontextmanager
async def visit(server: Served, **headers: str) -> AsyncIterator[Browser]:
    headers = {"Origin": f"http://localhost:{server.port}", "Host": f"localhost:{server.port}"} | headers
    address = f"http://127.0.0.1:{server.port}{server.below}link?width=120&height=40"
    async with aiohttp.ClientSession() as session, session.ws_connect(address, headers=headers) as link:
        yield Browser(link)


def below(server: Served) -> list[psutil.Process]:
    found: list[psutil.Process] = psutil.Process(server.child.pid).children(recursive=True)
    return found


def all_end(processes: list[psutil.Process]) -> bool:
    return not psutil.wait_procs(processes, timeout=PATIENCE_S)[1]


async def test_a_visitor_sees_the_screen_and_its_keys_arrive(server: Served) -> None:
    async with visit(server) as browser:
        await browser.until(lambda text: "dgx-07" in text and "train.py" in text)
        await browser.press("\x1bOP")
        await browser.until(lambda text: "finds a key" in text)


async def test_a_visitor_cannot_change_anything_unless_it_is_allowed(server: Served) -> None:
    async with visit(server) as browser:
        await browser.until(lambda text: "train.py" in text)
        await browser.press("\x1b[20~")
        await browser.until(lambda text: "read-only" in text)


async def test_a_visitor_cannot_write_files_of_the_server(server: Served) -> None:
    async with visit(server) as browser:
        await browser.until(lambda text: "train.py" in text)
        await browser.press("\x0f")  # Ctrl-O records
        await browser.until(lambda text: "this screen cannot record" in text)


async def test_the_processes_of_a_visitor_end_when_it_leaves(server: Served) -> None:
    async with visit(server) as browser:
        await browser.until(lambda text: "train.py" in text)
        processes = below(server)
        assert len(processes) >= 2  # a screen and a sampler

    assert await asyncio.to_thread(all_end, processes)


async def test_a_browser_that_leaves_at_once_leaves_its_screen_behind() -> None:
    with serving("--demo", "training") as server:
        async with visit(server):
            pass
        async with visit(server) as later:
            await later.until(lambda text: "train.py" in text)  # the first screen has started by now
        end = time.monotonic() + PATIENCE_S
        while remaining := below(server):
            assert time.monotonic() < end, remaining
            await asyncio.sleep(0.05)


async def test_too_many_visitors_are_refused_and_the_others_stay() -> None:
    with serving("--demo", "training", "--visitors", "2") as server:
        async with visit(server) as first, visit(server):
            await first.until(lambda text: "train.py" in text)
            with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
                async with visit(server):
                    pass
            assert refusal.value.status == 503
            await first.press("\x1bOP")
            await first.until(lambda text: "finds a key" in text)


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Host": "evil.example"}])
async def test_a_page_of_another_site_gets_no_screen(server: Served, headers: dict[str, str]) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
        async with visit(server, **headers):
            pass

    assert refusal.value.status == 403


@pytest.mark.parametrize("text", ['["stdin"]', "{", '["resize", {"width": "x", "height": 1}]', '["exec", "id"]', "[]"])
async def test_a_message_that_is_not_of_the_page_ends_the_visit(server: Served, text: str) -> None:
    async with visit(server) as browser:
        await browser.until(lambda text: "train.py" in text)
        await browser.link.send_str(text)
        while (message := await browser.link.receive(PATIENCE_S)).type is aiohttp.WSMsgType.BINARY:
            pass

    assert message.type in {aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.CLOSING}


async def test_a_giant_size_is_cut(server: Served) -> None:
    async with visit(server) as browser:
        await browser.until(lambda text: "train.py" in text)
        await browser.link.send_json(["resize", {"width": 10**9, "height": 10**9}])
        await browser.link.send_json(["resize", {"width": 120, "height": 40}])
        await browser.press("\x1bOP")
        await browser.until(lambda text: "finds a key" in text)


def test_the_terminal_comes_without_the_internet(server: Served) -> None:
    page = server.get()[1]

    assert "https://" not in page
    for part in ("terminal.js", "terminal.css", "screen.js", "screen.css", "mono.ttf"):
        with server.connect(server.below + part) as response:
            assert response.status == 200


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_the_screens_end_with_the_server(number: signal.Signals) -> None:
    with serving("--demo", "training") as server:
        async with visit(server) as browser:
            await browser.until(lambda text: "train.py" in text)
            processes = below(server)
            os.kill(server.child.pid, number)

            assert await asyncio.to_thread(all_end, processes)


async def test_a_screen_that_cannot_start_says_why() -> None:
    with serving(LD_LIBRARY_PATH="/nonexistent") as server:
        async with visit(server) as browser:
            await browser.until(lambda text: "gputop doctor" in text)
