"""Headless Chromium for the tests that look at Phoenix's pages as a person would."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from testkit.programs import program

if TYPE_CHECKING:
    from playwright.sync_api import Page

_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)

_LIVE_OFF = """localStorage.setItem(
  "arize-phoenix-preferences", JSON.stringify({ state: { traceStreamingEnabled: false }, version: 0 })
)"""
"""As by the Live switch: on a busy machine the tables are else asked for anew before they are drawn."""


@contextmanager
def chromium_page(*, width: int = 1600, height: int = 1000) -> Iterator[Page]:
    """A fresh page; the test is skipped where there is no Chromium, except in CI, where that is a failure."""
    executable = program("chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(_FLAGS))
        try:
            page = browser.new_page(viewport={"width": width, "height": height})
            page.set_default_timeout(60_000)
            page.add_init_script(_LIVE_OFF)
            yield page
        finally:
            browser.close()
