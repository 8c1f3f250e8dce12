"""Takes the README's pictures from a Phoenix that `make demo` has left open: `make screenshots`.

    python docs/screenshots.py http://127.0.0.1:6006

Needs Chromium and playwright (the `dev` extra). The pictures are what a visitor sees, cropped to what matters.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from rag_otel.cli.demo.command import PROJECT
from rag_otel.cli.demo.report import BASELINE_COUNT
from rag_otel.cli.drift_report.page import render_page
from rag_otel.cli.drift_report.view import replay, views, worst_answers
from rag_otel.drift.family import FamilySettings
from rag_otel.writers.phoenix_links import UNFAITHFUL_ANSWERS, trace_link
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from rag_otel_collectors.stored.project import StoredProject
from rag_otel_collectors.stored.scores import from_phoenix

PREFIX = "rag.evaluation.faithfulness"
CLAIMS = f"{PREFIX}.claim_count"
SUPPORTED = f"{PREFIX}.supported_count"
RISK = f"{PREFIX}.risk"
IMAGES = Path(__file__).parent / "images"
SETTLED_MS = 6_000
"""Charts are drawn with an animation."""
PATIENCE_MS = 180_000
"""On a slow machine Phoenix's live tables take their time."""


def traces(page: Page, project_page: str) -> None:
    """The Traces tab: the chart of the trace's scores over the week, and the scores of each answer."""
    page.goto(f"{project_page}/traces")
    page.get_by_role("link", name="answer").first.wait_for()
    page.wait_for_timeout(SETTLED_MS)
    page.screenshot(path=IMAGES / "traces.png", clip={"x": 250, "y": 0, "width": 1190, "height": 620})


def spans(page: Page, project_page: str) -> None:
    """The spans table, filtered to unfaithful answers."""
    page.goto(f"{project_page}/spans")
    page.get_by_role("link", name="answer").first.wait_for()
    box = page.get_by_role("textbox").first
    box.click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(UNFAITHFUL_ANSWERS)
    page.wait_for_timeout(SETTLED_MS)
    page.screenshot(path=IMAGES / "spans.png", clip={"x": 250, "y": 40, "width": 1670, "height": 700})


def claims(page: Page, link: str) -> None:
    """The trace of one answer: its scores, and the evaluation span with each claim, its chunk and its quote."""
    page.goto(link)
    page.get_by_text("evaluation faithfulness").first.click()
    page.get_by_text("claims supported").first.wait_for()
    page.wait_for_timeout(SETTLED_MS)
    page.screenshot(path=IMAGES / "claims.png", clip={"x": 355, "y": 40, "width": 1085, "height": 640})


def alarm(page: Page, reader: PhoenixClient, base_url: str) -> None:
    """What drift monitoring says of the demo's week: the series that it was noticed in first."""
    seen = list(from_phoenix(StoredProject(client=reader, name=PROJECT), ("model",)))
    found = replay(seen, FamilySettings(baseline_count=BASELINE_COUNT, dimensions=("model",)))
    first = views(found.family, found.events, found.timelines)[:1]
    worst = {(view.series, view.slice): worst_answers(seen, view) for view in first}
    link = partial(trace_link, base_url)
    page.set_content(render_page(first, found.events, heading="The week of the demo", worst=worst, link=link))
    box = page.locator("section").first.bounding_box()
    assert box is not None
    room = {"x": box["x"] - 24, "y": box["y"] - 8, "width": box["width"] + 48, "height": box["height"] + 8}
    page.screenshot(path=IMAGES / "drift-alarm.png", clip=room, full_page=True)


def telling(spans: Sequence[dict[str, Any]]) -> str:
    """Trace id of a risky answer with three claims, which fit the picture, some supported and some not."""
    short = [span for span in spans if span["attributes"].get(CLAIMS, 0) == 3]
    mixed = [span for span in short if 0 < span["attributes"].get(SUPPORTED, 0) < span["attributes"][CLAIMS]]
    riskiest = max(mixed or short, key=lambda span: span["attributes"].get(RISK, 0.0))
    return str(riskiest["context"]["trace_id"])


def main() -> None:
    base_url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:6006"
    reader = PhoenixClient(base_url)
    project_page = reader.project_page(PROJECT)
    trace_id = telling(reader.spans(PROJECT))
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(PATIENCE_MS)
        alarm(context.new_page(), reader, base_url)
        claims(context.new_page(), trace_link(base_url, trace_id))
        traces(context.new_page(), project_page)
        context = browser.new_context(viewport={"width": 1920, "height": 900})
        context.set_default_timeout(PATIENCE_MS)
        spans(context.new_page(), project_page)
        browser.close()


if __name__ == "__main__":
    main()
