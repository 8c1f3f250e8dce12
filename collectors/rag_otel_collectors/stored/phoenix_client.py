"""Reads spans and annotations back out of Phoenix over its REST API: what `doctor` and the demo verify with."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from rag_otel.delivery.http import get
from rag_otel.writers.phoenix_links import phoenix_base_url

_PAGE: Final = 1000
_IDS_PER_CALL: Final = 100
"""Ids travel in the address; more of them would outgrow what servers accept."""


class PhoenixReader:
    """One Phoenix server. Every call raises RetryableError or PermanentError as `rag_otel.delivery.http` does."""

    def __init__(self, endpoint: str, *, api_key: str | None = None, timeout_s: float = 10.0) -> None:
        self._base_url = phoenix_base_url(endpoint)
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._timeout_s = timeout_s

    def version(self) -> str:
        """The server's version; also tells that it answers at all."""
        return self._read("/arize_phoenix_version").decode().strip()

    def projects(self) -> list[str]:
        """Names of all projects; needs a valid API key where the server asks for one."""
        return [str(row["name"]) for row in self._rows("/v1/projects", {})]

    def project_page(self, project: str) -> str:
        """The address of a project's page in the UI; `/metrics` and `/spans` can follow."""
        answer = json.loads(self._read(_project_path(project)))
        return f"{self._base_url}/projects/{answer['data']['id']}"

    def trace_page(
        self, project: str, *, since: datetime | None = None, until: datetime | None = None, cursor: str | None = None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """A page of a project's traces, oldest first, and the cursor of the next one, None after the last.

        They start at or after `since` and before `until`; dicts with `trace_id`, `start_time`, `end_time`.
        """
        bounds = {name: [time.isoformat()] for name, time in (("start_time", since), ("end_time", until)) if time}
        return self._page(f"{_project_path(project)}/traces", {**bounds, "order": ["asc"]}, cursor)

    def spans(self, project: str, *, trace_ids: Iterable[str] = ()) -> list[dict[str, Any]]:
        """Spans of a project, all or those of some traces: dicts with `name`, `context`, `attributes` (flat keys)."""
        path = f"{_project_path(project)}/spans"
        return [row for ids in _batches(list(trace_ids)) for row in self._rows(path, {"trace_id": ids})]

    def annotations(self, project: str, span_ids: Iterable[str], *, names: Iterable[str] = ()) -> list[dict[str, Any]]:
        """Span annotations, all or those of some names: dicts with `span_id`, `name`, `identifier`, `result` (score,
        label, explanation), `metadata`."""
        path = f"{_project_path(project)}/span_annotations"
        wanted, only = list(span_ids), {"include_annotation_names": list(names)}
        return [row for ids in _batches(wanted) if wanted for row in self._rows(path, {"span_ids": ids, **only})]

    def _rows(self, path: str, query: dict[str, Sequence[str]]) -> Iterator[dict[str, Any]]:
        cursor: str | None = None
        while True:
            rows, cursor = self._page(path, query, cursor)
            yield from rows
            if not cursor:
                return

    def _page(
        self, path: str, query: dict[str, Sequence[str]], cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        page = {**query, "limit": [str(_PAGE)], **({"cursor": [cursor]} if cursor else {})}
        answer = json.loads(self._read(f"{path}?{urllib.parse.urlencode(page, doseq=True)}"))
        return answer["data"], answer.get("next_cursor")

    def _read(self, path: str) -> bytes:
        return get(self._base_url + path, headers=self._headers, timeout_s=self._timeout_s)


def _project_path(project: str) -> str:
    return f"/v1/projects/{urllib.parse.quote(project, safe='')}"


def _batches(ids: list[str]) -> list[list[str]]:
    """Ids in calls of bearable length; one empty batch where there are none."""
    return [ids[start : start + _IDS_PER_CALL] for start in range(0, len(ids), _IDS_PER_CALL)] or [[]]
