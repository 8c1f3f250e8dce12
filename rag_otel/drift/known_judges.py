"""Who gave the results that baselines were learned from: those of another version of a judge are another scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rag_otel.model import Evaluation
from rag_otel.safety.guard import counters, logger


class KnownJudges:
    """The judges by metric. While a process runs, the anchors tell of a new one; after a restart it shows here."""

    def __init__(self) -> None:
        self._known: dict[str, set[str]] = {}
        self._restored: set[str] = set()
        """Metrics whose baselines come from an earlier process, and still hold."""

    def has_changed(self, evaluation: Evaluation) -> bool:
        """True, once, where the metric's baselines come from an earlier process that did not know this judge: they
        are to be learned anew. A result that failed tells nothing."""
        if evaluation.error_type is not None:
            return False
        judge = " ".join(each for each in (evaluation.evaluator, evaluation.version, evaluation.judge) if each)
        known = self._known.setdefault(evaluation.name, set())
        changed = judge not in known and evaluation.name in self._restored
        if changed:
            self._restored.discard(evaluation.name)
            counters.add("drift.relearned")
            logger.warning(
                "rag-otel: drift baselines of %s are learned anew: results are by %s, "
                "and the baselines were learned from results by %s",
                evaluation.name,
                judge,
                " and ".join(sorted(known)) or "a judge that the state of an earlier release does not name",
            )
            known.clear()
        known.add(judge)
        return changed

    def to_state(self) -> dict[str, list[str]]:
        return {metric: sorted(judges) for metric, judges in self._known.items()}

    def restore(self, state: Mapping[str, Any], metrics: Iterable[str]) -> None:
        """Go on where `to_state` was called; `metrics` have baselines. Raises TypeError or ValueError for what it has
        not written."""
        self._known = {str(metric): {str(judge) for judge in judges} for metric, judges in dict(state).items()}
        self._restored = set(metrics)
