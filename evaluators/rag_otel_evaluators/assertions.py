"""`assert_faithful`: fails a test if an answer says what its chunks do not support. Works with every test framework."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Final

from rag_otel.errors import RagOtelError
from rag_otel.evaluation.evaluate import evaluate
from rag_otel.model import Chunk, ClaimVerdict, Evaluation, ReasonCode, Verdict
from rag_otel.protocols import Evaluator
from rag_otel.rendering.text_cutting import shorten
from rag_otel_evaluators.sync import run_sync

EMBEDDED: Final = "embedded"
_MAKES_NO_CLAIM: Final = (ReasonCode.ABSTAINED, ReasonCode.NO_CLAIMS)
_TIMEOUT_S: Final = 600.0
"""Deadline of one evaluation in seconds, as for files."""
_LENGTH: Final = 200
"""Characters of a passage and of the question in a message."""


def assert_faithful(
    question: str | None,
    chunks: Sequence[Chunk | str],
    response: str,
    *,
    threshold: float = 1.0,
    judge: str | Mapping[str, Any] | Evaluator = EMBEDDED,
    allow_abstention: bool = True,
) -> Evaluation:
    """Raises AssertionError, which names the unsupported claims, if fewer claims than `threshold` are supported.

    `threshold`: lowest acceptable share of supported claims, in 0..1. `judge`: a name (`embedded`,
    `openai/gpt-4o-mini`), the settings of `JudgeConfig`, or an evaluator of faithfulness. `allow_abstention`: whether
    an answer that makes no claim ("I don't know") passes.

    Returns the evaluation. Blocks until it is available, also while an event loop is running. Raises RagOtelError if
    the answer could not be judged (a judge that cannot be reached), ConfigurationError for wrong settings, ValueError
    for a threshold outside of 0..1.
    """
    __tracebackhide__ = True
    if not 0.0 <= threshold <= 1.0:
        raise ValueError(f"threshold must be within 0..1, not {threshold!r}")
    evaluating = evaluate(_evaluator(judge), question=question, chunks=chunks, response=response, timeout_s=_TIMEOUT_S)
    result = run_sync(evaluating)
    if result.score is None and result.reason_code in _MAKES_NO_CLAIM:
        if allow_abstention:
            return result
        raise AssertionError(f"the answer makes no claim: {shorten(response, _LENGTH)!r}")
    if result.score is None:
        raise RagOtelError(f"the answer could not be judged: {result.reason_code}: {result.explanation}")
    if result.score < threshold:
        raise AssertionError(_message(question, chunks, result, threshold))
    # What was not judged may be unsupported.
    if result.claims and result.supported_claims / len(result.claims) < threshold:
        raise RagOtelError(f"the answer was judged only in part: {result.reason_code}: {result.explanation}")
    return result


def _evaluator(judge: str | Mapping[str, Any] | Evaluator) -> Evaluator:
    if isinstance(judge, Evaluator):
        return judge
    return _built(json.dumps({"model": judge} if isinstance(judge, str) else dict(judge), sort_keys=True))


@functools.lru_cache(maxsize=16)
def _built(settings: str) -> Evaluator:
    """The evaluator of a judge. Tests share it, because building one may take seconds."""
    from rag_otel_evaluators.build import build_evaluators
    from rag_otel_evaluators.judges.config import EvaluatorsConfig, checked

    config = checked(EvaluatorsConfig, {"judge": json.loads(settings)}, source="assert_faithful")
    (evaluator,) = build_evaluators(config, ExitStack())
    return evaluator


def _message(question: str | None, chunks: Sequence[Chunk | str], result: Evaluation, threshold: float) -> str:
    lines = [
        f"the answer is not faithful: {result.supported_claims} of {result.judged_claims} claims are supported "
        f"({result.score:.2f}), at least {threshold:.2f} is required"
    ]
    if question:
        lines.append(f"  question: {shorten(question, _LENGTH)}")
    for verdict in result.claims:
        if verdict.verdict in (Verdict.CONTRADICTED, Verdict.NOT_ENOUGH_INFO):
            lines += _about(verdict)
    if not chunks:
        lines.append("  no chunks were given")
    lines.append(f"  judge: {result.judge}, version {result.version}")
    return "\n".join(lines)


def _about(verdict: ClaimVerdict) -> list[str]:
    lines = [f"  {verdict.verdict}: {verdict.claim.text!r}"]
    if verdict.quotes:
        quote = verdict.quotes[0]
        lines.append(f"    nearest passage, chunk {quote.chunk_id}: {shorten(quote.text, _LENGTH)!r}")
    if verdict.explanation:
        lines.append(f"    {verdict.explanation}")
    return lines
