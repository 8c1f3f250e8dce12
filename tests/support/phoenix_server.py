"""Questions that tests ask a real Phoenix (fixture `phoenix_server`), waited for by condition."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from rag_otel.delivery.http import post
from rag_otel.errors import PermanentError
from rag_otel_collectors.stored.phoenix_client import PhoenixClient


class PhoenixApi:
    """One Phoenix server; a project that no span has made yet is empty, not an error."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self._reader = PhoenixClient(base_url)

    def spans(self, project: str) -> list[dict[str, Any]]:
        """Every span of a project: `name`, `context`, `span_kind`, `attributes` with flat keys."""
        return self._unless_missing(lambda: self._reader.spans(project))

    def annotations(self, project: str, *span_ids: str) -> list[dict[str, Any]]:
        """Every annotation of the spans: `name`, `span_id`, `identifier`, `result`, `metadata`, ..."""
        return self._unless_missing(lambda: self._reader.annotations(project, span_ids))

    def graphql(self, query: str, **variables: Any) -> Any:
        """The `data` of a GraphQL query: what Phoenix's own UI asks."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        answer = json.loads(post(f"{self.base_url}/graphql", body))
        assert not answer.get("errors"), answer["errors"]
        return answer["data"]

    def span_nodes(self, project: str, fields: str, *, condition: str = "") -> list[dict[str, Any]]:
        """`fields` of the spans that the UI's filter box finds with `condition`, all of them without one."""
        query = (
            "query ($name: String!, $condition: String) { projects(filter: {col: name, value: $name}) { edges { node {"
            " name spans(first: 1000, filterCondition: $condition) { edges { node { spanId " + fields + " } } } } } } }"
        )
        answer = self.graphql(query, name=project, condition=condition or None)
        projects = [edge["node"] for edge in answer["projects"]["edges"] if edge["node"]["name"] == project]
        return [edge["node"] for node in projects for edge in node["spans"]["edges"]]

    @staticmethod
    def _unless_missing(read: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
        try:
            return read()
        except PermanentError as error:
            if "HTTP 404" in str(error):
                return []
            raise
