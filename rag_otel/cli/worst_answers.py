"""The worst answers that a Phoenix project holds, as lines with links: where to look first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Final

from rag_otel.evaluation.support import UNFAITHFUL
from rag_otel.rendering.text_cutting import one_line
from rag_otel.writers.annotations import FAITHFULNESS
from rag_otel.writers.phoenix_annotations import RISK
from rag_otel.writers.phoenix_links import UNFAITHFUL_ANSWERS, trace_link
from rag_otel_collectors.stored.answers import worst_of
from rag_otel_collectors.stored.phoenix_client import PhoenixClient

_SHOWN: Final = 5
_DAYS: Final = 7
_TRACES: Final = 1_000
"""The newest ones of the days. A project with more is better served by `rag-otel traces export --worst`."""


def worst_answers(reader: PhoenixClient, project: str, page: str) -> Iterator[str]:
    """Lines of text; none without an unfaithful answer. `page` is the address for people. Raises the client's
    errors."""
    since = datetime.now(UTC) - timedelta(days=_DAYS)
    newest = list(islice(reader.traces(project, since=since, newest_first=True), _TRACES))
    rows = reader.trace_annotations(project, [row["trace_id"] for row in newest]) if newest else []
    bad = [row for row in rows if row["name"] == FAITHFULNESS and (row.get("result") or {}).get("label") == UNFAITHFUL]
    if not bad:
        return
    yield f"The worst of {len(bad)} unfaithful answers among the newest {len(newest)} traces of the last {_DAYS} days:"
    for row in worst_of(((0.0, _risk(row), row) for row in bad), _SHOWN):
        yield f"  risk {_risk(row):.2f}  {one_line((row.get('result') or {}).get('explanation') or '')}"
        yield f"    {trace_link(page, row['trace_id'])}"
    yield f"All of them: paste this into the filter box of the Spans tab: {UNFAITHFUL_ANSWERS}"


def _risk(row: dict[str, Any]) -> float:
    risk = (row.get("metadata") or {}).get(RISK)
    return float(risk) if isinstance(risk, int | float) else 1.0
