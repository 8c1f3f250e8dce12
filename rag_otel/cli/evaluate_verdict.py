"""When an evaluation is not good enough for a build that depends on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rag_otel_evaluators.offline.results import Results
from rag_otel_evaluators.offline.statistics import MetricSummary


def shortcomings(results: Results, summaries: Sequence[MetricSummary], fail_under: Mapping[str, float]) -> list[str]:
    """What is not as it should be, a sentence each; empty where all is well.

    A metric that failed on every row (a wrong key, a server that is down) is never good enough; one with a threshold
    needs a mean that reaches it, and unknown is not good.
    """
    found = []
    for summary in summaries:
        least = fail_under.get(summary.metric)
        if summary.rows and summary.failures == summary.rows:
            first = results.evaluations(summary.metric)[0]
            found.append(f"{summary.metric} failed on every row: {first.explanation}")
        elif least is not None and summary.mean is None:
            found.append(f"{summary.metric}: no row has a score, at least {least:g} was asked for")
        elif least is not None and summary.mean is not None and summary.mean < least:
            found.append(f"{summary.metric}: the mean {summary.mean:.4f} is below {least:g}")
    return found
