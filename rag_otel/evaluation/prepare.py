"""What evaluation imports, imported at start-up: nothing is imported while traffic flows, or in the way of a fork."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel.protocols import Evaluator, Prepares
from rag_otel.safety.background_import import background_import
from rag_otel.safety.tracing_suppression import suppressed

_DELIVERY: Final = ("encodings.idna", "email.utils")
"""What the first HTTP request and the first `Retry-After` would import, on the threads that deliver."""


def prepare(evaluators: Sequence[Evaluator], *, over_http: bool = True) -> None:
    """Begin the imports of everything that evaluates and delivers; returns at once. `over_http`: results or alerts
    go to a server."""
    for evaluator in evaluators:
        if isinstance(evaluator, Prepares):
            background_import(_Preparation(evaluator))
    if over_http:
        background_import(*_DELIVERY)


class _Preparation:
    """Prepares an evaluator. Requests that a library makes while it is loaded are not the application's traffic."""

    def __init__(self, evaluator: Prepares) -> None:
        self._evaluator = evaluator
        self.__qualname__ = f"{type(evaluator).__qualname__}.prepare"

    def __call__(self) -> None:
        with suppressed():
            self._evaluator.prepare()
