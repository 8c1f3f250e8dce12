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

HELP: Final[dict[str, str]] = {}
"""Name of each counter, without the prefix -> its meaning, in the order in which they are shown."""


def _counter(name: str, meaning: str) -> str:
    HELP[name] = meaning
    return name


REQUESTS: Final = _counter("requests_total", "Export requests by transport and outcome")
RECEIVED: Final = _counter("received_spans_total", "Spans that were accepted")
REFUSED: Final = _counter("refused_requests_total", "Requests that were answered with a retryable status, by reason")
REJECTED: Final = _counter("rejected_spans_total", "Malformed spans, reported to their sender as a partial success")
PASSED: Final = _counter("passed_spans_total", "Spans that went on at once, by reason")
HELD: Final = _counter("held_spans_total", "Spans that were held for their trace")
RELEASED: Final = _counter("released_traces_total", "Assembled traces, by what ended the wait")
EVALUATED: Final = _counter("evaluated_traces_total", "RAG traces by status and reason")
LATE_SECONDS: Final = _counter(
    "late_span_age_seconds_total", "How long after its trace had left a late span came, summed up"
)
SENT: Final = _counter("sent_requests_total", "Batches that a backend took")
SENT_BYTES: Final = _counter("sent_bytes_total", "Bytes that a backend took, before compression")
RETRIES: Final = _counter(
    "send_retries_total", "Attempts that a backend did not answer or told to come back, by backend"
)
RESENT: Final = _counter(
    "resent_batches_total", "Batches that were delivered again because a backend had gone away soon after taking them"
)
UNCONFIRMED: Final = _counter(
    "unconfirmed_batches_total", "Batches that a backend took again and again and does not have, by backend"
)
LOST: Final = _counter("lost_spans_total", "Spans that a backend refused for good, by backend")
WORKER_RESTARTS: Final = _counter("worker_restarts_total", "Evaluation processes that died or hung and were replaced")
DISK_ERRORS: Final = _counter("disk_errors_total", "Writes that the disk did not take")
TASK_FAILURES: Final = _counter("task_failures_total", "Long-lived tasks that failed and were started again, by task")
JOBS: Final = _counter("published_jobs_total", "Evaluation jobs that the broker has stored")
JOB_RETRIES: Final = _counter("job_retries_total", "Attempts to publish jobs that the broker did not answer or refused")
CLOSED: Final = _counter("closed_connections_total", "Connections that were closed to make room for others, by reason")
REPEATED: Final = _counter("repeated_spans_total", "Held spans that had been delivered twice and were taken once")
KAFKA_ERRORS: Final = _counter("kafka_errors_total", "Errors that Kafka's client reported for what it reads, by error")


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
