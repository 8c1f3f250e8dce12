"""The spans of one trace as a tree. They may come in any order, and spans may be missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rag_otel.model import SpanRecord


class SpanTree:
    """Parents and children by span id. Tolerates missing parents, duplicate spans, and cycles of parents."""

    def __init__(self, spans: Sequence[SpanRecord]) -> None:
        self._by_id: dict[str, SpanRecord] = {}
        for span in spans:
            self._by_id.setdefault(span.span_id, span)
        self._children: dict[str, list[SpanRecord]] = {}
        for span in self.spans:
            if span.parent_id is not None:
                self._children.setdefault(span.parent_id, []).append(span)

    @property
    def spans(self) -> list[SpanRecord]:
        """Every span once, in order of start. Spans with the same start keep the order in which they came."""
        return sorted(self._by_id.values(), key=lambda span: span.start_ns)

    def ancestors(self, span: SpanRecord) -> Iterator[SpanRecord]:
        """Yields parent, grandparent, and so on, as far as they are known."""
        seen = {span.span_id}
        parent = self._by_id.get(span.parent_id or "")
        while parent is not None and parent.span_id not in seen:
            yield parent
            seen.add(parent.span_id)
            parent = self._by_id.get(parent.parent_id or "")

    def descendants(
        self, span: SpanRecord, *, prune: Callable[[SpanRecord], bool] = lambda _: False
    ) -> list[SpanRecord]:
        """Returns all spans below `span`, in order of start. If `prune` returns True for a span, that span and all
        spans below it are left out."""
        found: list[SpanRecord] = []
        seen = {span.span_id}
        to_visit = [span]
        while to_visit:
            for child in self._children.get(to_visit.pop().span_id, ()):
                if child.span_id not in seen and not prune(child):
                    seen.add(child.span_id)
                    found.append(child)
                    to_visit.append(child)
        return sorted(found, key=lambda each: each.start_ns)
