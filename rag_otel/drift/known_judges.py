"""Who gave the results that baselines were learned from: those of another version of a judge are another scale."""

from __future__ import annotations

from collections.abc import Iterable

from rag_otel.drift.records import stored
from rag_otel.model import Evaluation
from rag_otel.safety.guard import counters, logger


@stored
class KnownJudges:
    """The judges by metric. While a process runs, the anchors tell of a new one; after a restart it shows here."""

    __slots__ = ("_known", "_restored")

    NOT_STORED = ("_restored",)

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
                " and ".join(sorted(known)),
            )
            known.clear()
        known.add(judge)
        return changed

    def adopt(self, metrics: Iterable[str]) -> None:
        """Go on after it was restored; `metrics` have baselines."""
        self._restored = set(metrics)
