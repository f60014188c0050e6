"""gputop serve in a real Chromium: what a person sees, types and clicks."""

import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pyte
import pytest
from playwright.async_api import Browser, Page, async_playwright
from web_servers import PATIENCE_S, Served, serving

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: apt-get install chromium")

PATIENCE_MS = PATIENCE_S * 1000


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as engine:
        chromium = await engine.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE_MS)
        yield chromium
        await chromium.close()


@pytest.fixture(scope="module")
def wall() -> Iterator[Served]:
    with serving("--wall", "--demo", "trouble", "--interval", "0.2") as served:
        yield served


@pytest.fixture(scope="module")
def screen() -> Iterator[Served]:
    with serving("--demo", "training", "--visitors", "100") as served:
        yield served


class Terminal:
    """What a page's terminal shows: a canvas has no text, so its websocket is read."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._display = pyte.Screen(400, 100)
        self._stream = pyte.ByteStream(self._display)
        page.on("websocket", lambda link: link.on("framereceived", self._take))

    def _take(self, data: "bytes | str") -> None:
        if isinstance(data, bytes):
            self._stream.feed(data)

    async def open(self, served: Served) -> None:
        await self.page.goto(served.address, wait_until="domcontentloaded", timeout=PATIENCE_MS)
        await self.until(lambda text: "train.py" in text)

    async def until(self, wanted: Callable[[str], bool]) -> None:
        for _ in range(int(PATIENCE_S * 20)):
            if wanted("\n".join(self._display.display)):
                return
            await self.page.wait_for_timeout(50)
        raise AssertionError("\n".join(self._display.display))


async def test_the_wall_shows_findings_gpus_users_and_plots_and_stays_live(browser: Browser, wall: Served) -> None:
    page = await browser.new_page()
    errors: list[object] = []
    page.on("pageerror", lambda error: errors.append(error))  # noqa: PLW0108 - it cannot mark a builtin
    await page.goto(wall.address, timeout=PATIENCE_MS)
    await page.wait_for_selector("#findings .alarm", timeout=PATIENCE_MS)

    assert await page.locator("#gpus li").count() == 8
    assert "ann" in await page.locator("#users").inner_text()
    assert await page.locator("#plots canvas").count() == 2
    assert await page.locator("#age").inner_text() == "live"
    await page.reload(timeout=PATIENCE_MS)
    await page.wait_for_selector("#findings .alarm", timeout=PATIENCE_MS)
    assert errors == []


async def test_the_wall_fits_a_phone(browser: Browser, wall: Served) -> None:
    page = await browser.new_page(viewport={"width": 390, "height": 844})
    await page.goto(wall.address, timeout=PATIENCE_MS)
    await page.wait_for_selector("#findings .alarm", timeout=PATIENCE_MS)

    assert await page.evaluate("document.documentElement.scrollWidth") <= 390


async def test_the_wall_says_that_it_gets_no_news(browser: Browser) -> None:
    with serving("--wall", "--demo", "workstation", "--interval", "0.2") as served:
        page = await browser.new_page()
        await page.goto(served.address, timeout=PATIENCE_MS)
        await page.wait_for_selector("#gpus li", timeout=PATIENCE_MS)
    await page.wait_for_selector("body.late", timeout=PATIENCE_MS)

    assert "no news for" in await page.locator("#age").inner_text()


async def test_keys_and_the_mouse_reach_the_screen_without_a_click_before(browser: Browser, screen: Served) -> None:
    terminal = Terminal(await browser.new_page(viewport={"width": 1300, "height": 900}))
    await terminal.open(screen)
    await terminal.page.keyboard.press("F1")
    await terminal.until(lambda text: "finds a key" in text)
    await terminal.page.keyboard.press("Escape")  # alone: with what follows it would be one sequence
    await terminal.until(lambda text: "finds a key" not in text)
    await terminal.page.mouse.click(300, 700)
    await terminal.page.keyboard.press("Shift+F")
    await terminal.until(lambda text: "Findings ·" in text)


async def test_the_screen_follows_the_size_of_the_window(browser: Browser, screen: Served) -> None:
    terminal = Terminal(await browser.new_page(viewport={"width": 1300, "height": 900}))
    await terminal.open(screen)
    await terminal.page.set_viewport_size({"width": 1900, "height": 1000})
    await terminal.until(lambda text: max(len(line.rstrip()) for line in text.splitlines()) > 190)


async def test_two_visitors_have_screens_of_their_own_and_an_ended_one_can_start_again(
    browser: Browser, screen: Served
) -> None:
    first, second = Terminal(await browser.new_page()), Terminal(await browser.new_page())
    await first.open(screen)
    await second.open(screen)
    await first.page.keyboard.press("q")
    await first.page.wait_for_selector("body.-closed", timeout=PATIENCE_MS)
    await second.page.keyboard.press("F1")
    await second.until(lambda text: "finds a key" in text)
    await first.page.click("#again")
    await first.page.wait_for_selector("body.-first-byte", timeout=PATIENCE_MS)


async def test_a_page_of_another_site_cannot_press_keys(browser: Browser, screen: Served) -> None:
    class Evil(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<!DOCTYPE html><title>evil</title>")

        def log_message(self, *_: object) -> None:
            pass

    evil = HTTPServer(("127.0.0.1", 0), Evil)
    thread = threading.Thread(target=evil.serve_forever, daemon=True)
    thread.start()
    try:
        page = await browser.new_page()
        await page.goto(f"http://127.0.0.1:{evil.server_port}/", timeout=PATIENCE_MS)
        ended = await page.evaluate(
            """link => new Promise(done => {
                const socket = new WebSocket(link);
                socket.onopen = () => done("open");
                socket.onerror = () => done("refused");
            })""",
            f"ws://localhost:{screen.port}{screen.below}link?width=80&height=24",
        )
    finally:
        evil.shutdown()
        evil.server_close()
        thread.join()

    assert ended == "refused"
