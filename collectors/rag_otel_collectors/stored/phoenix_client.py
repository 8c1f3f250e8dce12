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

from rag_otel.delivery.http import delete
from rag_otel.delivery.retry import RetryPolicy, call_with_retries
from rag_otel.errors import PermanentError
from rag_otel.writers.phoenix_api import PhoenixApi

_IDS_PER_CALL: Final = 100
"""Ids are sent in the URL. With more of them, the URL would be longer than servers accept."""
_NO_SUCH_ADDRESS: Final = ("HTTP 404", "HTTP 405")
_ONCE: Final = RetryPolicy(attempts=1)


def patient_policy(patience_s: float) -> RetryPolicy:
    """Retries for at most `patience_s` seconds while Phoenix is unavailable. A Retry-After may be as long."""
    return RetryPolicy(attempts=None, longest_wait_s=15.0, deadline_s=patience_s, longest_asked_s=patience_s)


class PhoenixClient(PhoenixApi):
    """The client of one Phoenix server. Every call may raise RetryableError or PermanentError, see
    `rag_otel.delivery.http`."""

    _retry: RetryPolicy = _ONCE

    def with_patience(self, patience_s: float) -> PhoenixClient:
        """Returns a client of the same server that retries requests for up to `patience_s` seconds while Phoenix is
        unavailable. Paging continues at the page that failed."""
        patient = copy.copy(self)
        patient._retry = patient_policy(patience_s)
        return patient

    def version(self) -> str:
        """The server's version. The simplest request, which needs no API key."""
        return self.read("/arize_phoenix_version").decode("utf-8", "replace").strip()

    def projects(self) -> list[str]:
        """Names of all projects. Needs a valid API key if the server requires one."""
        return [str(row["name"]) for row in self.rows("/v1/projects")]

    def project_page(self, project: str) -> str:
        """The URL of a project's page in the UI. `/metrics` or `/spans` may be appended."""
        return f"{self.base_url}/projects/{self.read_json(_project_path(project))['data']['id']}"

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
        return self.rows(f"{_project_path(project)}/traces", {**bounds, "order": ["desc" if newest_first else "asc"]})

    def spans(self, project: str, *, trace_ids: Iterable[str] = ()) -> list[dict[str, Any]]:
        """Spans of a project, or of these traces: dicts with `name`, `context`, `attributes` (flat keys)."""
        path = f"{_project_path(project)}/spans"
        return [row for ids in _batches(list(trace_ids)) for row in self.rows(path, {"trace_id": ids})]

    def annotations(self, project: str, span_ids: Iterable[str], *, names: Iterable[str] = ()) -> list[dict[str, Any]]:
        """Annotations of these spans: dicts with `span_id`, `name`, `identifier`, `result` (score, label, explanation),
        `metadata`. With `names`, only annotations of these names."""
        path = f"{_project_path(project)}/span_annotations"
        wanted, only = list(span_ids), {"include_annotation_names": list(names)}
        return [row for ids in _batches(wanted) if wanted for row in self.rows(path, {"span_ids": ids, **only})]

    def sessions(self, project: str) -> Iterator[dict[str, Any]]:
        """Yields a project's sessions, the newest first: dicts with `session_id`, `start_time`, `traces`, ..."""
        return self.rows(f"{_project_path(project)}/sessions", {"order": ["desc"]})

    def trace_annotations(self, project: str, trace_ids: Iterable[str]) -> list[dict[str, Any]]:
        """Annotations of these traces: dicts as those of `annotations`, with `trace_id`. Empty from a server that does
        not know how to list them: an older Phoenix."""
        path, wanted = f"{_project_path(project)}/trace_annotations", list(trace_ids)
        try:
            return [row for ids in _batches(wanted) if wanted for row in self.rows(path, {"trace_ids": ids})]
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
        try:
            answer = json.loads(self.post("/v1/datasets/upload?sync=true", body))
        except PermanentError as error:  # what Phoenix says quotes the name, which is cut as an echo of what was sent
            if "HTTP 409" not in str(error):
                raise
            raise PermanentError(f"there is a dataset {name!r} already: --append adds to it") from None
        return f"{self.base_url}/datasets/{answer['data']['dataset_id']}"

    def delete_trace(self, trace_id: str) -> None:
        """Remove a trace with its spans and annotations. Not repeated where it fails."""
        delete(f"{self.base_url}/v1/traces/{trace_id}", **self.options)

    def read(self, path: str) -> bytes:
        return call_with_retries(lambda: PhoenixApi.read(self, path), self._retry)


def _project_path(project: str) -> str:
    return f"/v1/projects/{urllib.parse.quote(project, safe='')}"


def _batches(ids: list[str]) -> list[list[str]]:
    """Splits ids into batches, one per request. Without ids, one empty batch."""
    return [ids[start : start + _IDS_PER_CALL] for start in range(0, len(ids), _IDS_PER_CALL)] or [[]]
