"""Annotations: named scores with a label and a reason, as rows of Phoenix's REST API and as span attributes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Literal

from rag_otel import semconv
from rag_otel.model import AttributeValue
from rag_otel.writers.attributes import present

IDENTIFIER: Final = "rag-otel"
"""The same for every metric and version. Phoenix averages annotations of one name with different identifiers."""


def annotation(
    name: str,
    kind: Literal["CODE", "LLM", "HUMAN"],
    *,
    score: float | None = None,
    label: str | None = None,
    explanation: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    identifier: str | None = IDENTIFIER,
    **place: str | int,
) -> dict[str, Any]:
    """A row of `PhoenixApi.annotate`. `place`: what it is about, `span_id=...` or `trace_id=...`.

    `identifier`: None for a document, which Phoenix identifies by its position.
    """
    return {
        **place,
        "name": name,
        "annotator_kind": kind,
        **({} if identifier is None else {"identifier": identifier}),
        "result": present({"score": score, "label": label, "explanation": explanation}),
        "metadata": dict(metadata or {}),
    }


def as_span_attributes(row: Mapping[str, Any], number: int = 0) -> dict[str, AttributeValue]:
    """An annotation as attributes of a feedback span (OpenInference, spec/annotations.md)."""
    fields = {
        "name": row["name"],
        **row["result"],
        "annotator_kind": row["annotator_kind"],
        "identifier": row["identifier"],
        "metadata": json.dumps(row["metadata"], ensure_ascii=False) if row["metadata"] else None,
    }
    return present({f"{semconv.OI_EVALUATIONS}.{number}.evaluation.{key}": value for key, value in fields.items()})
