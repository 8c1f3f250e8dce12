"""Tells Phoenix what the names of annotations mean: their range, and which end is good.

With an annotation configuration Phoenix colours a score (green, red) in the trace's header, its tree and the project's
statistics, and shows the worst annotation of a span first. What exists is never changed, whoever made it.

Source: Phoenix's REST API, `/v1/annotation_configs` (a configuration) and `/v1/projects/{project}/annotation_configs`
(which ones a project shows; servers from 17.16 on).
"""

from __future__ import annotations

import time
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rag_otel import semconv
from rag_otel.delivery.http import put
from rag_otel.errors import PermanentError, RetryableError
from rag_otel.evaluation.directions import lower_is_better
from rag_otel.evaluation.support import FAITHFUL, UNFAITHFUL
from rag_otel.model import EvaluatedTrace, Evaluation
from rag_otel.safety.fork import ForkSafeLock
from rag_otel.safety.guard import logger
from rag_otel.safety.scheduler import scheduler
from rag_otel.writers.phoenix_api import PhoenixApi

LABEL_SCORES: Final = {UNFAITHFUL: 0.0, FAITHFUL: 1.0}
"""The score of an annotation with a label. So colour, label and mean agree: the mean is the share of faithful answers.
"""
_CONFIGURATIONS: Final = "/v1/annotation_configs"
_DEFAULT_PROJECT: Final = "default"
_REFUSALS: Final = (PermanentError, RetryableError, ValueError, KeyError, TypeError)
_ATTEMPTS: Final = 5
_AGAIN_S: Final = 2.0
"""A project exists once Phoenix has stored its first span, which a busy Phoenix does later than it takes annotations.
So it is asked again after so long, then after twice as long, and so on: for half a minute in all."""


class PhoenixConfigurations:
    """Creates the configurations that are missing and shows them in the project, once for each project and name."""

    def __init__(self, api: PhoenixApi) -> None:
        self._api = api
        self._lock = ForkSafeLock()
        self._shown: set[tuple[str, str]] = set()
        """(project, name) that need nothing more."""
        self._to_show: set[tuple[str, str]] = set()
        """Those whose project does not exist yet."""
        self._attempts = 0
        self._again_at: float | None = None

    def ensure(self, batch: Sequence[EvaluatedTrace], names: Mapping[str, Evaluation]) -> None:
        """Creates and shows what the annotations of these results need. Never raises: colours are no reason to send a
        score again. A server that refuses costs one line in the log.

        `names`: the names of annotations, each with an evaluation that it was made of.
        """
        projects = {_project_of(result) for result in batch}
        with self._lock:
            wanted = {(project, name) for project in projects for name in names} - self._shown - self._to_show
            if not wanted or self._attempts >= _ATTEMPTS:
                return
            try:
                known = {row["name"] for row in self._api.rows(_CONFIGURATIONS)}
                for name in sorted({name for _, name in wanted} - known):
                    self._api.post(_CONFIGURATIONS, _configuration(name, names[name]))
            except _REFUSALS as error:
                self._failed(error)
                return
            self._to_show |= wanted
        self.tick()

    def due(self) -> float | None:
        """When to ask for a project again that did not exist, in seconds since the epoch."""
        return self._again_at

    def tick(self) -> None:
        """Show what is not shown yet."""
        with self._lock:
            self._again_at = None
            try:
                for project, name in sorted(self._to_show):
                    put(self._api.base_url + _shown_in(project, name), b"", **self._api.options)
                    self._to_show.remove((project, name))
                    self._shown.add((project, name))
            except _REFUSALS as error:
                self._again_at = time.time() + _AGAIN_S * 2**self._attempts
                self._failed(error)
        if self._again_at is not None:
            scheduler.add(self)
        else:
            scheduler.remove(self)

    def _failed(self, error: Exception) -> None:
        self._attempts += 1
        if self._attempts >= _ATTEMPTS:
            self._again_at = None
            logger.warning("rag-otel: Phoenix shows the scores without colours: %s", error)


def _shown_in(project: str, name: str) -> str:
    quoted = [urllib.parse.quote(each, safe="") for each in (project, name)]
    return f"/v1/projects/{quoted[0]}/annotation_configs/{quoted[1]}"


def _project_of(result: EvaluatedTrace) -> str:
    """Where Phoenix has put the target span: the project of its resource, else the one of the settings."""
    resource = getattr(result.origin, "resource", None)
    named = None if resource is None else resource.attributes.get(semconv.PROJECT_NAME)
    return str(named or result.project or _DEFAULT_PROJECT)


def _configuration(name: str, evaluation: Evaluation) -> dict[str, Any]:
    if evaluation.label in LABEL_SCORES:
        values = [{"label": label, "score": score} for label, score in LABEL_SCORES.items()]
        return {"type": "CATEGORICAL", "name": name, "optimization_direction": "MAXIMIZE", "values": values}
    direction = "MINIMIZE" if lower_is_better(evaluation.name) else "MAXIMIZE"
    bounds = {"lower_bound": 0.0, "upper_bound": 1.0}
    return {"type": "CONTINUOUS", "name": name, "optimization_direction": direction, **bounds}
