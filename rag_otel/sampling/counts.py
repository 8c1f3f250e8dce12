"""Names of the counters (`rag_otel.safety.guard.counters`) by which a policy sees how much it asks for."""

from __future__ import annotations

from typing import Final

SEEN: Final = "sampling.seen"
"""Traces that a policy was asked about."""
REFUSED: Final = "sampling.refused"
"""Traces for which there was no room: the limit of evaluations per minute, or a full queue."""
