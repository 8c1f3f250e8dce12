"""Calls that are not recorded: told as cheaply as can be, and what they call is left out with them."""

from __future__ import annotations

from typing import Final

from opentelemetry.trace import Span, Tracer

_NEVER_BELOW_UNSAMPLED: Final = ("remoteParentNotSampled:AlwaysOffSampler", "localParentNotSampled:AlwaysOffSampler")
_told: tuple[Tracer, bool] | None = None


def is_left_out(parent: Span, tracer: Tracer) -> bool:
    """True when the parent was not sampled and the sampler follows it, as the SDK's default does.

    Asking for a span, only to get one that records nothing, is most of what such a call would cost.
    """
    if parent.is_recording():
        return False
    context = parent.get_span_context()
    return context.is_valid and not context.trace_flags.sampled and _follows_parents(tracer)


def _follows_parents(tracer: Tracer) -> bool:
    """Told by the sampler's description, which the specification defines; any other sampler is asked every time."""
    global _told
    told = _told
    if told is None or told[0] is not tracer:
        sampler = getattr(tracer, "sampler", None)
        description = "" if sampler is None else str(sampler.get_description())
        follows = description.startswith("ParentBased{") and all(part in description for part in _NEVER_BELOW_UNSAMPLED)
        _told = told = (tracer, follows)
    return told[1]


def leaves_out(span: Span, parent: Span) -> bool:
    """True when a span that records nothing must be made current, so that what is called below is left out too.

    Not so without an SDK or with a tracer that is switched off, where the span is the parent again or none at all.
    """
    own, above = span.get_span_context(), parent.get_span_context()
    if not own.is_valid or own.span_id == above.span_id:
        return False
    return parent.is_recording() or not above.is_valid
