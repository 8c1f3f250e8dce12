"""What `/metrics` shows: the collector's own counters and gauges, and the metrics of what it evaluates.

The formats (Prometheus' text, OpenMetrics) are prometheus-client's.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

PREFIX: Final = "rag_otel_collector_"

RECEIVED: Final = "received_spans_total"
REQUESTS: Final = "requests_total"
REFUSED: Final = "refused_requests_total"
REJECTED: Final = "rejected_spans_total"
PASSED: Final = "passed_spans_total"
HELD: Final = "held_spans_total"
RELEASED: Final = "released_traces_total"
EVALUATED: Final = "evaluated_traces_total"
LATE_SECONDS: Final = "late_span_age_seconds_total"
SENT: Final = "sent_requests_total"
SENT_BYTES: Final = "sent_bytes_total"
RETRIES: Final = "send_retries_total"
RESENT: Final = "resent_batches_total"
UNCONFIRMED: Final = "unconfirmed_batches_total"
LOST: Final = "lost_spans_total"
WORKER_RESTARTS: Final = "worker_restarts_total"
DISK_ERRORS: Final = "disk_errors_total"
TASK_FAILURES: Final = "task_failures_total"
JOBS: Final = "published_jobs_total"
JOB_RETRIES: Final = "job_retries_total"
CLOSED: Final = "closed_connections_total"
REPEATED: Final = "repeated_spans_total"
KAFKA_ERRORS: Final = "kafka_errors_total"

HELP: Final = {
    REQUESTS: "Export requests by transport and outcome",
    RECEIVED: "Spans that were accepted",
    REFUSED: "Requests that were answered with a retryable status, by reason",
    REJECTED: "Malformed spans, reported to their sender as a partial success",
    PASSED: "Spans that went on at once, by reason",
    HELD: "Spans that were held for their trace",
    RELEASED: "Assembled traces, by what ended the wait",
    EVALUATED: "RAG traces by status and reason",
    LATE_SECONDS: "How long after its trace had left a late span came, summed up",
    SENT: "Batches that a backend took",
    SENT_BYTES: "Bytes that a backend took, before compression",
    RETRIES: "Attempts that a backend did not answer or told to come back, by backend",
    RESENT: "Batches that were delivered again because a backend had gone away soon after taking them",
    UNCONFIRMED: "Batches that a backend took again and again and does not have, by backend",
    LOST: "Spans that a backend refused for good, by backend",
    WORKER_RESTARTS: "Evaluation processes that died or hung and were replaced",
    DISK_ERRORS: "Writes that the disk did not take",
    TASK_FAILURES: "Long-lived tasks that failed and were started again, by task",
    JOBS: "Evaluation jobs that the broker has stored",
    JOB_RETRIES: "Attempts to publish jobs that the broker did not answer or refused",
    CLOSED: "Connections that were closed to make room for others, by reason",
    REPEATED: "Held spans that had been delivered twice and were taken once",
    KAFKA_ERRORS: "Errors that Kafka's client reported for what it reads, by error",
}


class _Page(Collector):
    """What is encoded: what was read on the event loop, then what the others say."""

    def __init__(self, families: Sequence[Family], others: Sequence[Collector]) -> None:
        self._read = families
        self._others = others

    def collect(self) -> Iterator[Family]:
        yield from self._read
        for other in self._others:
            yield from other.collect()


class Metrics:
    """Counts by name and labels. Belongs to the event loop's thread."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, tuple[tuple[str, str], ...]]] = Counter()
        self._gauges: dict[str, tuple[str, Callable[[], float]]] = {}
        self._others: list[Collector] = []

    def add(self, name: str, amount: float = 1, **labels: str) -> None:
        """Count `amount` more."""
        self._counts[name, tuple(labels.items())] += amount  # type: ignore[assignment]

    def get(self, name: str, **labels: str) -> float:
        """The count of one name, of these labels or of all together."""
        wanted = set(labels.items())
        return sum(count for (found, pairs), count in self._counts.items() if found == name and wanted <= set(pairs))

    def gauge(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        """Show what `read` returns, asked at every scrape."""
        self._gauges[name] = (meaning, read)

    def include(self, collector: Collector) -> None:
        """Show what this one collects too; it is asked on a thread of its own."""
        self._others.append(collector)

    async def exposition(self, accept: str = "") -> tuple[bytes, str]:
        """Everything, and its content type: OpenMetrics where the `Accept` header asks for it, else the text format."""
        encode, content_type = choose_encoder(accept)
        page = _Page(list(self._families()), self._others)
        # A page of a thousand series takes 40 ms, in which the loop has spans to move.
        return await asyncio.to_thread(encode, page), content_type

    def _families(self) -> Iterator[Family]:
        """The collector's own counters and gauges, as prometheus-client wants them."""
        for name, meaning in HELP.items():
            found = [(dict(pairs), count) for (each, pairs), count in sorted(self._counts.items()) if each == name]
            if found:
                labels = sorted({label for pairs, _ in found for label in pairs})
                family = CounterMetricFamily(PREFIX + name, meaning, labels=labels)
                for pairs, count in found:
                    family.add_metric([pairs.get(label, "") for label in labels], count)
                yield family
        for name, (meaning, read) in self._gauges.items():
            yield GaugeMetricFamily(PREFIX + name, meaning, value=read())
