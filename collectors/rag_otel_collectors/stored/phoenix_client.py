"""The client of Phoenix's REST API: reads traces, spans and annotations of a project, with paging, and uploads
datasets.

Tested with arize-phoenix 20.26.
"""

from __future__ import annotations

import copy
import json
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from rag_otel.delivery.http import delete, get, post, to_json
from rag_otel.delivery.retry import RetryPolicy, patiently
from rag_otel.errors import PermanentError
from rag_otel.writers.phoenix_links import phoenix_base_url

_PAGE: Final = 1000
_IDS_PER_CALL: Final = 100
"""Ids are sent in the URL. With more of them, the URL would be longer than servers accept."""
_NO_SUCH_ADDRESS: Final = ("HTTP 404", "HTTP 405")
_ONCE: Final = RetryPolicy(attempts=1)


def patient_policy(patience_s: float) -> RetryPolicy:
    """Retries for at most `patience_s` seconds while Phoenix is unavailable. A Retry-After may be as long."""
    return RetryPolicy(attempts=None, longest_wait_s=15.0, deadline_s=patience_s, longest_asked_s=patience_s)


class PhoenixClient:
    """The client of one Phoenix server. Every call may raise RetryableError or PermanentError, see
    `rag_otel.delivery.http`."""

    def __init__(self, endpoint: str, *, api_key: str | None = None, timeout_s: float = 10.0) -> None:
        """`endpoint` is Phoenix's address (`http://host:6006`). `timeout_s` bounds one request."""
        self._base_url = phoenix_base_url(endpoint)
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._timeout_s = timeout_s
        self._retry = _ONCE

    def with_patience(self, patience_s: float) -> PhoenixClient:
        """Returns a client of the same server that retries requests for up to `patience_s` seconds while Phoenix is
        unavailable. Paging continues at the page that failed."""
        patient = copy.copy(self)
        patient._retry = patient_policy(patience_s)
        return patient

    def version(self) -> str:
        """The server's version. The simplest request, which needs no API key."""
        return self._read("/arize_phoenix_version").decode("utf-8", "replace").strip()

    def projects(self) -> list[str]:
        """Names of all projects. Needs a valid API key if the server requires one."""
        return [str(row["name"]) for row in self._rows("/v1/projects", {})]

    def project_page(self, project: str) -> str:
        """The URL of a project's page in the UI. `/metrics` or `/spans` may be appended."""
        return f"{self._base_url}/projects/{self._read_json(_project_path(project))['data']['id']}"

    def traces(
        self,
        project: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        newest_first: bool = False,
    ) -> Iterator[dict[str, Any]]:
        """Yields a project's traces that started at or after `since` and before `until`, oldest first by default: dicts
        with `trace_id`, `start_time`, `end_time`. Pages are read when they are needed."""
        bounds = {name: [time.isoformat()] for name, time in (("start_time", since), ("end_time", until)) if time}
        return self._rows(f"{_project_path(project)}/traces", {**bounds, "order": ["desc" if newest_first else "asc"]})

    def spans(self, project: str, *, trace_ids: Iterable[str] = ()) -> list[dict[str, Any]]:
        """Spans of a project, or of these traces: dicts with `name`, `context`, `attributes` (flat keys)."""
        path = f"{_project_path(project)}/spans"
        return [row for ids in _batches(list(trace_ids)) for row in self._rows(path, {"trace_id": ids})]

    def annotations(self, project: str, span_ids: Iterable[str], *, names: Iterable[str] = ()) -> list[dict[str, Any]]:
        """Annotations of these spans: dicts with `span_id`, `name`, `identifier`, `result` (score, label, explanation),
        `metadata`. With `names`, only annotations of these names."""
        path = f"{_project_path(project)}/span_annotations"
        wanted, only = list(span_ids), {"include_annotation_names": list(names)}
        return [row for ids in _batches(wanted) if wanted for row in self._rows(path, {"span_ids": ids, **only})]

    def sessions(self, project: str) -> Iterator[dict[str, Any]]:
        """Yields a project's sessions, the newest first: dicts with `session_id`, `start_time`, `traces`, ..."""
        return self._rows(f"{_project_path(project)}/sessions", {"order": ["desc"]})

    def annotate_sessions(self, annotations: Sequence[Mapping[str, Any]]) -> None:
        """Writes annotations of sessions: dicts with `session_id`, `name`, `annotator_kind`, `identifier`, `result`,
        `metadata`. One with the same session, name and identifier is replaced. Raises PermanentError if a session does
        not exist. Needs Phoenix 12 or newer."""
        url = f"{self._base_url}/v1/session_annotations?sync=true"
        post(url, to_json({"data": list(annotations)}), headers=self._headers, timeout_s=self._timeout_s)

    def trace_annotations(self, project: str, trace_ids: Iterable[str]) -> list[dict[str, Any]]:
        """Annotations of these traces: dicts as those of `annotations`, with `trace_id`. Empty from a server that does
        not know how to list them: an older Phoenix."""
        path, wanted = f"{_project_path(project)}/trace_annotations", list(trace_ids)
        try:
            return [row for ids in _batches(wanted) if wanted for row in self._rows(path, {"trace_ids": ids})]
        except PermanentError as error:
            if str(error).startswith(_NO_SUCH_ADDRESS):
                return []
            raise

    def upload_dataset(
        self, name: str, examples: Sequence[Mapping[str, Any]], *, description: str = "", append: bool = False
    ) -> str:
        """Creates a dataset and returns the URL of its page. Waits until Phoenix has stored it.

        `examples`: dicts with `input`, `output`, `metadata` and `span_id`. The span's id is the example's id too. With
        `append`, they are added to an existing dataset, and an example with the same id is updated. Not repeated if it
        fails. Raises PermanentError if the dataset exists and `append` is not given.
        """
        body = {
            "action": "append" if append else "create",
            "name": name,
            "description": description,
            **{f"{field}s": [each[field] for each in examples] for field in ("input", "output")},
            "metadata": [each["metadata"] for each in examples],
            "span_ids": [each["span_id"] for each in examples],
            "example_ids": [each["span_id"] for each in examples],
        }
        url = f"{self._base_url}/v1/datasets/upload?sync=true"
        answer = json.loads(post(url, to_json(body), headers=self._headers, timeout_s=self._timeout_s))
        return f"{self._base_url}/datasets/{answer['data']['dataset_id']}"

    def delete_trace(self, trace_id: str) -> None:
        """Remove a trace with its spans and annotations. Not repeated where it fails."""
        delete(f"{self._base_url}/v1/traces/{trace_id}", headers=self._headers, timeout_s=self._timeout_s)

    def _rows(self, path: str, query: dict[str, Sequence[str]]) -> Iterator[dict[str, Any]]:
        """Yields the rows of all pages of one list."""
        cursor: str | None = None
        while True:
            page = {**query, "limit": [str(_PAGE)], **({"cursor": [cursor]} if cursor else {})}
            answer = self._read_json(f"{path}?{urllib.parse.urlencode(page, doseq=True)}")
            yield from answer["data"]
            cursor = answer.get("next_cursor")
            if not cursor:
                return

    def _read_json(self, path: str) -> dict[str, Any]:
        try:
            answer = json.loads(self._read(path))
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or "data" not in answer:
            raise PermanentError(f"the server at {self._base_url} is not Phoenix's REST API")
        return answer

    def _read(self, path: str) -> bytes:
        url = self._base_url + path
        return patiently(lambda: get(url, headers=self._headers, timeout_s=self._timeout_s), self._retry)


def _project_path(project: str) -> str:
    return f"/v1/projects/{urllib.parse.quote(project, safe='')}"


def _batches(ids: list[str]) -> list[list[str]]:
    """Splits ids into batches, one per request. Without ids, one empty batch."""
    return [ids[start : start + _IDS_PER_CALL] for start in range(0, len(ids), _IDS_PER_CALL)] or [[]]
