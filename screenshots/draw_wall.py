"""The picture of the wall in docs/browser.md, drawn by Chromium.

PYTHONPATH=tests/support python screenshots/draw_wall.py
"""

import shutil
from pathlib import Path
from typing import Final

from playwright.sync_api import sync_playwright
from web_servers import serving

HERE: Final = Path(__file__).parent
_GROWTH_MS: Final = 20_000  # of the plots


def draw() -> None:
    """Draw the wall of a simulated box."""
    with serving("--wall", "--demo", "training", "--interval", "0.2") as served, sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1300, "height": 960}, color_scheme="dark")
        page.goto(served.address)
        page.wait_for_selector("#findings .alarm", timeout=60_000)
        page.wait_for_timeout(_GROWTH_MS)
        page.screenshot(path=HERE / "wall.png")
        browser.close()


if __name__ == "__main__":
    draw()
