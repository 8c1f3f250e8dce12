"""A real HTTP application under gunicorn, exporting over real OTLP."""

from __future__ import annotations

import urllib.request

import pytest

from testkit.http_receiver import http_receiver
from tests.processing.kit import SCORE, STATUS
from tests.processing.otlp import received
from tests.support.gunicorn_server import gunicorn

pytestmark = [pytest.mark.long, pytest.mark.server]


@pytest.mark.parametrize("options", [("--preload",), (), ("--preload", "--worker-class=gthread", "--threads=4")])
def test_every_request_is_exported_once_with_its_score(options: tuple[str, ...]) -> None:
    """Requests over two workers, then SIGTERM: each span is exported exactly once, scored; with preload the call that
    the master made before forking leaves from the master alone."""
    with http_receiver() as sink:
        application, environment = "tests.processing.forking_app:application", {"RAG_TEST_SINK": sink.url}
        with gunicorn(application, environment, "--workers=2", *options) as url:
            workers = set()
            for n in range(20):
                with urllib.request.urlopen(f"{url}/ask/{n}", timeout=120) as response:
                    workers.add(response.read())
        spans = received(sink)
    asked = [(name, attributes) for name, attributes in spans if name != "at import"]
    assert sorted(name for name, _ in asked) == sorted(map(str, range(20)))
    assert {attributes[SCORE] for _, attributes in spans} == {1.0}
    assert {attributes[STATUS] for _, attributes in spans} == {"evaluated"}
    assert {str(attributes["pid"]).encode() for _, attributes in asked} == workers
    at_import = len(spans) - len(asked)
    assert at_import == (1 if "--preload" in options else 2)
