"""What the runbook tells people to type is asked of a real Phoenix."""

from __future__ import annotations

import json
import re
import secrets
import urllib.parse
from pathlib import Path

import pytest

from rag_otel.delivery.http import post
from rag_otel_collectors.otlp.requests.wire import attribute_bytes
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from testkit.otlp_requests import a_rag_trace, a_request
from testkit.polling import eventually
from testkit.shared_servers import SharedPhoenix
from tests.stack.test_rules import alerts
from tests.support.browser import chromium_page
from tests.support.phoenix_server import PhoenixApi

pytestmark = pytest.mark.server


RUNBOOK = (Path(__file__).parents[2] / "docs" / "runbook.md").read_text("utf-8")
PROJECT = f"runbook-{secrets.token_hex(4)}"
"""Of this process: each worker of the test run fills its own."""
EVALUATION = "rag.evaluation"


def filters() -> list[str]:
    """Every filter expression of the runbook, once."""
    found = re.findall(r"`([^`\n]*(?:(?:annotations|attributes)\[|rag\.evaluation\.\S+ [<>=])[^`\n]+)`", RUNBOOK)
    return sorted(set(found))


def test_the_runbook_has_filters() -> None:
    """The others would pass on a runbook that was rewritten past them."""
    assert len(filters()) >= 8


@pytest.fixture(scope="module")
def phoenix(phoenix_server: SharedPhoenix) -> PhoenixApi:
    """A project with one trace of each kind: a bad answer, one that failed, one skipped, one late, one untouched."""
    faithfulness = f"{EVALUATION}.faithfulness"
    marks = {
        "bad": {
            f"{EVALUATION}.status": "evaluated",
            f"{faithfulness}.score": 0.5,
            f"{faithfulness}.risk": 0.8,
            f"{faithfulness}.claims.0.verdict": "contradicted",
        },
        "failed": {f"{EVALUATION}.status": "failed"},
        "skipped": {f"{EVALUATION}.status": "skipped", "rag.sampling.reason": "budget"},
        "late": {f"{EVALUATION}.status": "late"},
        "untouched": {},
    }
    bad = ""
    for name, attributes in marks.items():
        spans = a_rag_trace()
        spans[-1].MergeFromString(attribute_bytes(attributes))
        spans[-1].name = f"answer-{name}"
        request = a_request(*spans)
        request.resource_spans[0].resource.attributes.add(key="openinference.project.name").value.string_value = PROJECT
        headers = {"Content-Type": "application/x-protobuf"}
        post(f"{phoenix_server.base_url}/v1/traces", request.SerializeToString(), headers=headers)
        bad = spans[-1].span_id.hex() if name == "bad" else bad
    api = PhoenixApi(phoenix_server.base_url)
    eventually(lambda: len(api.spans(PROJECT)) == 2 * len(marks))
    result = {"score": 0.0, "label": "unfaithful"}
    data = [{"span_id": bad, "name": "faithfulness", "annotator_kind": "CODE", "result": result}]
    post(f"{phoenix_server.base_url}/v1/span_annotations?sync=true", json.dumps({"data": data}).encode())
    return api


@pytest.mark.phoenix
@pytest.mark.parametrize("expression", filters())
def test_every_filter_of_the_runbook_finds_what_it_is_for(expression: str, phoenix: PhoenixApi) -> None:
    """Phoenix understands it, and it finds some spans and not all."""
    shown = phoenix.span_nodes(PROJECT, "name", condition=expression)
    assert 0 < len(shown) < len(phoenix.spans(PROJECT))


@pytest.mark.phoenix
@pytest.mark.browser
def test_the_link_of_an_alert_opens_phoenix_on_the_filter(phoenix: PhoenixApi) -> None:
    """A real browser shows the expression in the box and, of the answers, only the one that it is about."""
    project_page = PhoenixClient(phoenix.base_url).project_page(PROJECT)
    (link,) = {rule["annotations"]["phoenix"] for rule in alerts() if rule["alert"] == "RagFaithfulnessMedianLow"}
    condition = re.findall(r'urlquery "(.+)"', link)[0]
    with chromium_page(width=1900) as page:
        page.set_default_timeout(180_000)
        page.goto(f"{project_page}/spans?spanFilterCondition={urllib.parse.quote_plus(condition)}")
        page.get_by_role("link", name="answer-bad").wait_for()
        assert page.get_by_role("link", name="answer-untouched").count() == 0
        assert condition in page.locator(".cm-content").first.inner_text()
