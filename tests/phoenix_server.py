"""A real Phoenix for the tests: started once per run, asked through its API, waited for by condition."""

from __future__ import annotations

import json
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def eventually(condition: Callable[[], T], *, within_s: float = 30.0) -> T:
    """The first truthy value of `condition`, polled; fails with its last value when the deadline passes."""
    deadline = time.monotonic() + within_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"not within {within_s} s; the last value was {value!r}"
        time.sleep(0.05)
    return value


class PhoenixApi:
    """The few questions that tests ask a Phoenix server, through its REST API."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url

    def get(self, path: str, **query: Any) -> Any:
        """The JSON answer of a GET; None for 404, as for a project that no span has made yet."""
        url = f"{self.base_url}{path}?{urllib.parse.urlencode(query, doseq=True)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise

    def _rows(self, path: str, **query: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        cursor: dict[str, Any] = {}
        while page := self.get(path, limit=1000, **query, **cursor):
            rows += page["data"]
            if not page.get("next_cursor"):
                break
            cursor = {"cursor": page["next_cursor"]}
        return rows

    def spans(self, project: str) -> list[dict[str, Any]]:
        """Every span of a project, `attributes` with flat keys; empty while the project does not exist."""
        return self._rows(f"/v1/projects/{project}/spans")

    def annotations(self, project: str, *span_ids: str) -> list[dict[str, Any]]:
        """Every annotation of the spans: `name`, `span_id`, `identifier`, `result`, `metadata`, ..."""
        return self._rows(f"/v1/projects/{project}/span_annotations", span_ids=span_ids)
