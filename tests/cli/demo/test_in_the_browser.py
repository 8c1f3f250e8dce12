"""What a person sees in Phoenix: columns, charts, claims. A real browser on a real server."""

from __future__ import annotations

import pytest

from rag_otel.writers.phoenix_links import trace_link
from tests.cli.demo.conftest import Told
from tests.cli.demo.stored_story import RISK
from tests.support.browser import chromium_page

pytestmark = [pytest.mark.phoenix, pytest.mark.browser]
PATIENCE_MS = 180_000
"""Phoenix's live tables take their time on a busy machine."""


@pytest.mark.slow(reason="a browser opens every page of the demo")
def test_columns_chart_and_claims_are_there(told: Told) -> None:
    """The Metrics tab has a chart of the annotation, the spans table shows it, a span its claims."""
    project_page = told.reader.project_page(told.project)
    riskiest = max(told.reader.spans(told.project), key=lambda span: span["attributes"].get(RISK, 0.0))
    with chromium_page(width=1900) as page:
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{project_page}/metrics")
        page.get_by_role("heading", name="faithfulness", exact=True).first.wait_for()
        page.get_by_role("heading", name="faithfulness").first.scroll_into_view_if_needed()
        page.locator(".recharts-line-curve").first.wait_for()

        page.goto(trace_link(told.base_url, riskiest["context"]["trace_id"]))
        page.get_by_role("tab", name="Attributes").click()
        page.get_by_text("rag.evaluation.faithfulness.claims.0.text").first.wait_for()
        page.get_by_text(riskiest["attributes"]["rag.evaluation.faithfulness.claims.0.verdict"]).first.wait_for()

        page.goto(f"{project_page}/spans")
        page.get_by_role("link", name="answer").first.wait_for()
        page.get_by_role("columnheader", name="annotations").wait_for()
        page.get_by_text("faithfulness").first.wait_for()
