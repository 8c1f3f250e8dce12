"""What evaluation imports, imported at start-up: nothing is imported while traffic flows, or in the way of a fork."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rag_otel.protocols import Evaluator, Prepares
from rag_otel.safety.background_import import background_import

_DELIVERY: Final = ("encodings.idna", "email.utils")
"""What the first HTTP request and the first `Retry-After` would import, on the threads that deliver."""


def prepare(evaluators: Sequence[Evaluator]) -> None:
    """Begin the imports of everything that evaluates and delivers; returns at once."""
    background_import(*(each.prepare for each in evaluators if isinstance(each, Prepares)), *_DELIVERY)
