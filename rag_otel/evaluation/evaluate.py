"""Runs an evaluator and makes data of its failure: the one place where an evaluator's code is called.

The span processor, the collector, backfill and the evaluation of files all come through here, so that an evaluator
that raises, hangs or returns something else has the same result everywhere.
"""

from __future__ import annotations

import asyncio
import dataclasses
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rag_otel.errors import PermanentError, RetryableError
from rag_otel.evaluation.conversation import with_conversation
from rag_otel.evaluation.current_evaluation import evaluating, metered
from rag_otel.model import NO_CONVERSATION, Chunk, Conversation, Evaluation, ReasonCode
from rag_otel.protocols import Evaluator, ReadsConversation
from rag_otel.safety.background_import import until_imported
from rag_otel.safety.guard import counters, logger
from rag_otel.safety.redaction import redacted_text

UNREADABLE: Final = "unreadable_answer"
"""`error_type` where a judge answered, and nothing of it could be read."""


async def evaluate_all(
    evaluators: Sequence[Evaluator],
    *,
    question: str | None,
    chunks: Sequence[Chunk | str],
    response: str,
    reference: str | None = None,
    conversation: Conversation = NO_CONVERSATION,
    timeout_s: float,
) -> tuple[Evaluation, ...]:
    """Run the evaluators side by side on one answer: one `Evaluation` for each, in their order.

    `timeout_s` is the deadline of each. Raises nothing but the caller's own cancellation.
    """
    runs = (
        evaluate(
            each,
            question=question,
            chunks=chunks,
            response=response,
            reference=reference,
            conversation=conversation,
            timeout_s=timeout_s,
        )
        for each in evaluators
    )
    return tuple(await asyncio.gather(*runs))


async def evaluate(
    evaluator: Evaluator,
    *,
    question: str | None,
    chunks: Sequence[Chunk | str],
    response: str,
    reference: str | None = None,
    conversation: Conversation = NO_CONVERSATION,
    further: Mapping[str, Any] | None = None,
    timeout_s: float,
) -> Evaluation:
    """Run one evaluator. An exception, a deadline that has passed and a result of another type are failed evaluations.

    `conversation` is given to evaluators that read one (`rag_otel.protocols.ReadsConversation`), to others not.
    `further`: arguments beside those of the protocol, for evaluators of data sets that take them (`reference_chunks`).

    A failed evaluation names the evaluator and its judge and carries what was spent. Raises `CancelledError` only where
    the caller itself is cancelled: a call that was cancelled inside the evaluator is a failure as any other. What is
    being imported for evaluators is waited for first, which takes nothing from the deadline.
    """
    await until_imported()
    started = time.perf_counter()
    if isinstance(evaluator, ReadsConversation):
        question, chunks = with_conversation(conversation, evaluator.conversation_as, question, chunks)
    of_chunks = (each if isinstance(each, str) else each.text for each in chunks)
    with metered() as spent, evaluating(question, *of_chunks, response, reference, timeout_s=timeout_s):
        try:
            async with asyncio.timeout(timeout_s):
                result = await evaluator.evaluate(
                    question=question, chunks=chunks, response=response, reference=reference, **(further or {})
                )
            if not isinstance(result, Evaluation):
                raise TypeError(f"evaluate() returned {type(result).__name__}, not an Evaluation")
        except asyncio.CancelledError as error:
            if (task := asyncio.current_task()) is None or task.cancelling():
                raise
            result = _failure_of(evaluator, RuntimeError(f"cancelled inside the evaluator {error}".rstrip()))
        except Exception as error:  # noqa: BLE001 - any evaluator's failure is data
            result = _failure_of(evaluator, error)
    if result.reason_code == ReasonCode.PARSE_ERROR and result.score is None and result.error_type is None:
        result = _unreadable(result)
    if result.error_type is not None:  # of an evaluator that makes data of its failures by itself
        result = dataclasses.replace(result, explanation=redacted_text(result.explanation or ""))
    usage = result.usage if result.usage is not None or result.error_type is None else spent.usage
    return dataclasses.replace(result, usage=usage, duration_s=time.perf_counter() - started)


def _unreadable(result: Evaluation) -> Evaluation:
    """A judge of whose answers nothing could be read has failed. It was asked again already: another try would be paid
    for as well. The answer stands in the explanation; logs hold no texts."""
    if counters.add(f"evaluation_failed.{result.name}.{UNREADABLE}") == 1:
        logger.warning(
            "rag-otel: metric %s cannot be evaluated: the answers of judge %s cannot be read; what it says is the "
            "evaluation's explanation on the span. Name a model that follows instructions, or check its address",
            result.name,
            result.judge,
        )
    return dataclasses.replace(result, error_type=UNREADABLE, error_retryable=False)


def failed_evaluation(name: str, error: Exception) -> Evaluation:
    """A failure of the metric `name` as data: no score, what went wrong, whether trying again may help.

    The first one of a kind is logged, with the way out; credentials that an error quotes are masked.
    """
    timed_out = isinstance(error, TimeoutError)
    _tell_once(name, error)
    known = ReasonCode.TIMEOUT if timed_out else getattr(error, "reason_code", None)  # some errors bring their own
    return Evaluation(
        name=name,
        reason_code=known if isinstance(known, str) else ReasonCode.JUDGE_ERROR,
        explanation=redacted_text(str(error)) or type(error).__name__,
        error_type=f"{type(error).__module__}.{type(error).__qualname__}",
        error_retryable=timed_out or (isinstance(error, RetryableError) and not isinstance(error, PermanentError)),
    )


def _failure_of(evaluator: Evaluator, error: Exception) -> Evaluation:
    return dataclasses.replace(
        failed_evaluation(evaluator.name, error),
        evaluator=type(evaluator).__qualname__,
        version=evaluator.version,
        judge=evaluator.judge_name,
    )


def _tell_once(name: str, error: Exception) -> None:
    """One warning for each metric and kind of error. What a foreign exception says is left to the span: it may quote
    the answer, and logs hold no texts."""
    kind = type(error).__name__
    if counters.add(f"evaluation_failed.{name}.{kind}") > 1:
        return
    if isinstance(error, TimeoutError):
        what = "no answer in time; is the judge reachable? Raise evaluation_timeout (RAG_OTEL_EVALUATION_TIMEOUT)"
    elif isinstance(error, RetryableError | PermanentError):
        what = f"{error}; check the judge's address, key and model: `rag-otel doctor`"
    else:
        what = f"raised at {_place(error)}; the message is the evaluation's explanation on the span"
    logger.warning("rag-otel: metric %s cannot be evaluated: %s: %s", name, kind, what)


def _place(error: Exception) -> str:
    """File and line where an exception was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"
