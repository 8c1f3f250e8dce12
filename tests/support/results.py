"""Builders of finished results: one unfaithful answer of three claims, varied by keyword."""

from __future__ import annotations

import dataclasses
import secrets
from typing import Any

from rag_otel.model import (
    Chunk,
    Claim,
    ClaimVerdict,
    EvaluatedTrace,
    Evaluation,
    EvaluationStatus,
    Quote,
    RagTrace,
    SamplingDecision,
    SpanRef,
    Verdict,
)

QUESTION = "What does the moon orbit?"
RESPONSE = "The moon orbits the earth. It is made of cheese. Nobody has seen its far side."
CHUNK = "The moon orbits the earth once a month; its far side was first seen in 1959."
SECRET_TEXTS = (QUESTION, "orbits the earth", "made of cheese", "far side", "contradicted by")
"""What must not be found anywhere once content is hidden."""


def a_claim(start: int, end: int, verdict: Verdict, **changes: Any) -> ClaimVerdict:
    """A verdict on a slice of `RESPONSE`, with one quote."""
    fields: dict[str, Any] = {
        "claim": Claim(text=RESPONSE[start:end], sentence_index=0, start=start, end=end),
        "verdict": verdict,
        "chunk_ids": ("moon-1",),
        "quotes": (Quote(chunk_id="moon-1", start=0, end=25, text=CHUNK[0:25]),),
        "support_probability": 0.5,
    }
    return ClaimVerdict(**fields | changes)


CLAIMS = (
    a_claim(0, 26, Verdict.SUPPORTED, support_probability=0.97),
    a_claim(27, 48, Verdict.NOT_ENOUGH_INFO, chunk_ids=(), quotes=(), support_probability=0.04),
    a_claim(49, 78, Verdict.CONTRADICTED, support_probability=0.02, explanation="contradicted by the far side's date"),
)


def an_evaluation(**changes: Any) -> Evaluation:
    """Faithfulness 1/3, risk .93, unfaithful, by the embedded judge."""
    fields: dict[str, Any] = {
        "name": "faithfulness",
        "score": 1 / 3,
        "risk": 0.93,
        "label": "unfaithful",
        "explanation": "2 of 3 claims unsupported: made of cheese",
        "claims": CLAIMS,
        "evaluator": "Faithfulness",
        "version": "1",
        "judge": "embedded",
    }
    return Evaluation(**fields | changes)


def a_target() -> SpanRef:
    """Ids that no other test has."""
    return SpanRef(trace_id=secrets.token_hex(16), span_id=secrets.token_hex(8))


def a_result(
    *evaluations: Evaluation, status: EvaluationStatus = EvaluationStatus.EVALUATED, **trace: Any
) -> EvaluatedTrace:
    """An evaluated trace with these evaluations (the one above by default); keywords change its `RagTrace`."""
    fields: dict[str, Any] = {
        "target": a_target(),
        "question": QUESTION,
        "chunks": (
            Chunk(id="moon-1", text=CHUNK, position=0),
            Chunk(id="moon-2", text="Cheese is a food.", position=1),
        ),
        "response": RESPONSE,
        "service": "observatory",
        "route": "answer",
        "start_ns": 1_700_000_000_000_000_000,
        "duration_ns": 250_000_000,
    }
    return EvaluatedTrace(
        trace=RagTrace(**fields | trace),
        decision=SamplingDecision(sampled=True, reason="ratio", probability=0.25),
        evaluations=evaluations or (an_evaluation(),),
        status=status,
    )


def with_status(result: EvaluatedTrace, status: EvaluationStatus) -> EvaluatedTrace:
    """The same result under another status."""
    return dataclasses.replace(result, status=status)
