"""rag-otel: faithfulness of RAG answers in production, on OpenTelemetry.

    import rag_otel

    rag_otel.instrument(phoenix_endpoint="http://localhost:6006")

    @rag_otel.observe
    def answer(question): ...

This module is the whole public interface for applications. Importing it loads almost nothing. `instrument()`, or the
first decorated call, loads the judge, the processor and the exporters.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_otel.guarding.entry import guard, guard_sync
    from rag_otel.guarding.rules import Guard, Guarded, GuardVerdict
    from rag_otel.observing.decorator import observe
    from rag_otel.observing.session import current_trace_id, record_chunks, record_memory, using
    from rag_otel.processing.processor import RagSpanProcessor
    from rag_otel.ratings.rating import FeedbackStatus
    from rag_otel.settings.groups import AlertSettings, DriftSettings, JudgeSettings, SpanSettings, TelemetrySettings
    from rag_otel.setup.instrument import flush, instrument, uninstrument
    from rag_otel.setup.running import Instrumentation
    from rag_otel.user_feedback import feedback

__version__ = "0.2.0"
__all__ = [
    "AlertSettings",
    "DriftSettings",
    "FeedbackStatus",
    "Guard",
    "GuardVerdict",
    "Guarded",
    "Instrumentation",
    "JudgeSettings",
    "RagSpanProcessor",
    "SpanSettings",
    "TelemetrySettings",
    "__version__",
    "current_trace_id",
    "feedback",
    "flush",
    "guard",
    "guard_sync",
    "instrument",
    "observe",
    "record_chunks",
    "record_memory",
    "uninstrument",
    "using",
]

_LAZY = {
    "AlertSettings": "rag_otel.settings.groups",
    "DriftSettings": "rag_otel.settings.groups",
    "FeedbackStatus": "rag_otel.ratings.rating",
    "Guard": "rag_otel.guarding.rules",
    "GuardVerdict": "rag_otel.guarding.rules",
    "Guarded": "rag_otel.guarding.rules",
    "Instrumentation": "rag_otel.setup.running",
    "JudgeSettings": "rag_otel.settings.groups",
    "RagSpanProcessor": "rag_otel.processing.processor",
    "SpanSettings": "rag_otel.settings.groups",
    "TelemetrySettings": "rag_otel.settings.groups",
    "current_trace_id": "rag_otel.observing.session",
    "feedback": "rag_otel.user_feedback",
    "flush": "rag_otel.setup.instrument",
    "guard": "rag_otel.guarding.entry",
    "guard_sync": "rag_otel.guarding.entry",
    "instrument": "rag_otel.setup.instrument",
    "observe": "rag_otel.observing.decorator",
    "record_chunks": "rag_otel.observing.session",
    "record_memory": "rag_otel.observing.session",
    "uninstrument": "rag_otel.setup.instrument",
    "using": "rag_otel.observing.session",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
