"""The client of Phoenix's REST API, with a small server that responds like Phoenix."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from rag_otel.errors import PermanentError, RetryableError
from rag_otel_collectors.stored.phoenix_client import PhoenixClient


class Pages:
    """Lists of three pages. `failures` are statuses that are returned first."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.failures: dict[str | None, list[int]] = {}
        """Cursor -> statuses."""
        self.queries: list[dict[str, list[str]]] = []
        self.body: bytes | None = None
        """Answered in place of a page."""


@pytest.fixture
def pages() -> Iterator[Pages]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            query = parse_qs(urlsplit(self.path).query)
            found.queries.append(query)
            cursor = query.get("cursor", [None])[0]
            failures = found.failures.get(cursor, [])
            status = failures.pop(0) if failures else 200
            page = int(cursor or 0)
            answer = {"data": [{"trace_id": str(page)}], "next_cursor": str(page + 1) if page < 2 else None}
            body = found.body or json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Pages(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


def ids(client: PhoenixClient) -> list[str]:
    return [row["trace_id"] for row in client.traces("a/b project")]


def test_all_pages_are_read(pages: Pages) -> None:
    """The client follows each page's cursor until there is none."""
    assert ids(PhoenixClient(pages.url)) == ["0", "1", "2"]
    assert [query.get("cursor") for query in pages.queries] == [None, ["1"], ["2"]]


def test_a_patient_client_goes_on_at_the_page_that_failed(pages: Pages) -> None:
    """If Phoenix is unavailable between pages, no page is read twice and none is left out."""
    pages.failures["1"] = [503]
    assert ids(PhoenixClient(pages.url).with_patience(60)) == ["0", "1", "2"]
    assert [query.get("cursor") for query in pages.queries] == [None, ["1"], ["1"], ["2"]]


def test_without_patience_a_failure_is_raised_at_once(pages: Pages) -> None:
    """Callers that do not retry, like `doctor`, get the error."""
    pages.failures[None] = [503]
    with pytest.raises(RetryableError, match="HTTP 503"):
        ids(PhoenixClient(pages.url))
    assert len(pages.queries) == 1


@pytest.mark.parametrize("body", [b"<html>please log in</html>", b"[]", b'{"detail": "?"}'])
def test_another_server_is_told_from_phoenix(pages: Pages, body: bytes) -> None:
    """A proxy's login page with status 200 is an error that names the address."""
    pages.body = body
    with pytest.raises(PermanentError, match=pages.url):
        ids(PhoenixClient(pages.url))


def test_a_server_that_lists_no_annotations_of_traces(pages: Pages) -> None:
    """An older Phoenix does not know the address: then none are known. Other failures are told."""
    client = PhoenixClient(pages.url)
    pages.failures = {None: [404]}
    assert client.trace_annotations("p", ["a"]) == []
    assert len(client.trace_annotations("p", ["a"])) == 3
    pages.failures = {None: [403]}
    with pytest.raises(PermanentError, match="HTTP 403"):
        client.trace_annotations("p", ["a"])
