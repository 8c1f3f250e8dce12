"""Every attribute name that rag-otel reads or writes.

Names defined by other projects are copied as strings, because their Python constants move between releases.
Sources: OpenInference semantic conventions; OpenTelemetry GenAI semantic conventions (repository
semantic-conventions-genai, October 2026); OpenLLMetry 0.62.
"""

from __future__ import annotations

import re
from typing import Final

SCOPE: Final = "rag_otel"
"""Instrumentation scope of the spans that `@observe` creates."""

# --- OpenInference --------------------------------------------------------------------------------------------
SPAN_KIND: Final = "openinference.span.kind"
KIND_CHAIN: Final = "CHAIN"
KIND_AGENT: Final = "AGENT"
KIND_TOOL: Final = "TOOL"
KIND_LLM: Final = "LLM"
KIND_RETRIEVER: Final = "RETRIEVER"
KIND_RERANKER: Final = "RERANKER"
KIND_EMBEDDING: Final = "EMBEDDING"
KIND_EVALUATOR: Final = "EVALUATOR"
KIND_DECISION: Final = "DECISION"
LLM_SYSTEM: Final = "llm.system"
LLM_PROVIDER: Final = "llm.provider"
INPUT_VALUE: Final = "input.value"
INPUT_MIME_TYPE: Final = "input.mime_type"
OUTPUT_VALUE: Final = "output.value"
OUTPUT_MIME_TYPE: Final = "output.mime_type"
MIME_JSON: Final = "application/json"
MIME_TEXT: Final = "text/plain"
DOCUMENTS: Final = "retrieval.documents"
RERANKER_INPUT_DOCUMENTS: Final = "reranker.input_documents"
RERANKER_OUTPUT_DOCUMENTS: Final = "reranker.output_documents"
RERANKER_QUERY: Final = "reranker.query"
DOCUMENT_ID: Final = "document.id"
DOCUMENT_CONTENT: Final = "document.content"
DOCUMENT_SCORE: Final = "document.score"
DOCUMENT_METADATA: Final = "document.metadata"
LLM_MODEL_NAME: Final = "llm.model_name"
LLM_INVOCATION_PARAMETERS: Final = "llm.invocation_parameters"
LLM_INPUT_MESSAGES: Final = "llm.input_messages"
LLM_OUTPUT_MESSAGES: Final = "llm.output_messages"
SESSION_ID: Final = "session.id"
USER_ID: Final = "user.id"
METADATA: Final = "metadata"
PROJECT_NAME: Final = "openinference.project.name"
"""Resource attribute: the Phoenix project."""
REDACTED: Final = "__REDACTED__"
OI_EVALUATIONS: Final = "evaluations"
"""Prefix on a span of kind EVALUATOR (OpenInference spec/annotations.md)."""

# --- OpenTelemetry ----------------------------------------------------------------------------------------------
SERVICE_NAME: Final = "service.name"
GEN_AI_OPERATION_NAME: Final = "gen_ai.operation.name"
GEN_AI_CONVERSATION_ID: Final = "gen_ai.conversation.id"
GEN_AI_INPUT_MESSAGES: Final = "gen_ai.input.messages"
GEN_AI_OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
GEN_AI_SYSTEM_INSTRUCTIONS: Final = "gen_ai.system_instructions"
GEN_AI_REQUEST_MODEL: Final = "gen_ai.request.model"
GEN_AI_RESPONSE_MODEL: Final = "gen_ai.response.model"
GEN_AI_RESPONSE_ID: Final = "gen_ai.response.id"
GEN_AI_RETRIEVAL_QUERY: Final = "gen_ai.retrieval.query.text"
GEN_AI_RETRIEVAL_DOCUMENTS: Final = "gen_ai.retrieval.documents"
GEN_AI_MEMORY_QUERY: Final = "gen_ai.memory.query.text"
GEN_AI_MEMORY_RECORDS: Final = "gen_ai.memory.records"
GEN_AI_TOOL_NAME: Final = "gen_ai.tool.name"
GEN_AI_TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
GEN_AI_TOOL_RESULT: Final = "gen_ai.tool.call.result"
GEN_AI_PROMPT_VARIABLE: Final = "gen_ai.prompt.variable."
GEN_AI_EVALUATION_EVENT: Final = "gen_ai.evaluation.result"
GEN_AI_EVALUATION_NAME: Final = "gen_ai.evaluation.name"
GEN_AI_EVALUATION_SCORE: Final = "gen_ai.evaluation.score.value"
GEN_AI_EVALUATION_LABEL: Final = "gen_ai.evaluation.score.label"
GEN_AI_EVALUATION_EXPLANATION: Final = "gen_ai.evaluation.explanation"
GEN_AI_EVALUATION_TARGET: Final = "gen_ai.evaluation.target"
GEN_AI_EVALUATOR_SOURCE: Final = "gen_ai.evaluation.evaluator.source"
"""With the target, an extension of pydantic-evals 2. Logfire's live monitoring lists only events that have a target."""
GEN_AI_EVALUATOR_ID: Final = "gen_ai.evaluation.evaluator.id"
GEN_AI_EVALUATOR_VERSION: Final = "gen_ai.evaluation.evaluator.version"
GEN_AI_EVALUATOR_TYPE: Final = "gen_ai.evaluation.evaluator.type"
"""Proposed for the GenAI conventions in open-telemetry/semantic-conventions-genai pull request 359."""
GEN_AI_SCHEMA_URL: Final = "https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev"
"""The schema that the GenAI conventions declared in October 2026. They have no release."""
ERROR_TYPE: Final = "error.type"

# --- Traceloop / OpenLLMetry ------------------------------------------------------------------------------------
TRACELOOP_KIND: Final = "traceloop.span.kind"
TRACELOOP_ENTITY: Final = "traceloop.entity.name"
TRACELOOP_INPUT: Final = "traceloop.entity.input"
TRACELOOP_OUTPUT: Final = "traceloop.entity.output"
TRACELOOP_WORKFLOW: Final = "traceloop.workflow.name"
DB_QUERY_RESULT: Final = "db.query.result"
"""Name of the event, and prefix of its attributes, that Traceloop's vector stores write for each result."""

# --- Defined by rag-otel ---------------------------------------------------------------------------------------------
EVALUATION: Final = "rag.evaluation"
STATUS: Final = "rag.evaluation.status"
"""An `EvaluationStatus`."""
STATUS_REASON: Final = "rag.evaluation.status_reason"
"""Why the status is not `evaluated`: an `UnevaluableReason`, a `SamplingReason` or an error type."""
SAMPLING_REASON: Final = "rag.sampling.reason"
SAMPLING_PROBABILITY: Final = "rag.sampling.probability"
SAMPLING_RULE: Final = "rag.sampling.rule"
SAMPLING_RATE: Final = "rag.sampling.rate"
SAMPLING_COIN: Final = "rag.sampling.coin"
SAMPLING_STRATUM: Final = "rag.sampling.stratum"
SAMPLING_PRESCORE: Final = "rag.sampling.prescore"
SAMPLING_REFUSED: Final = "rag.sampling.refused"
FEEDBACK_RATING: Final = "rag.feedback.rating"
"""A user's rating of the answer, 0..1, on the target span or on a feedback span; a thumbs-down is 0."""
FEEDBACK_TRACE: Final = "rag.feedback.trace_was"
"""On a feedback span: what had become of the trace when it was rated (`at_hand`, `not_sampled`, `not_here`)."""
GUARD_OUTCOME: Final = "rag.guard.outcome"
"""What left: `passed`, `blocked`, `replaced`, `annotated` or `removed`; see `rag_otel.guarding`."""
GUARD_FINDING: Final = "rag.guard.finding"
"""`supported`, `unsupported` or `not_judged`."""
GUARD_REASON: Final = "rag.guard.reason"
"""Why the answer was not judged in time, or why the action could not be applied."""
GUARD_METRIC: Final = "rag.guard.metric"
GUARD_DEADLINE: Final = "rag.guard.deadline"
"""Seconds that one verdict was waited for at most."""
GUARD_WAITED: Final = "rag.guard.waited"
"""Seconds that were waited for verdicts, in all."""
GUARD_CHECKS: Final = "rag.guard.check_count"
"""How often the judge was asked: more than once for a stream."""
GUARD_SENTENCES: Final = "rag.guard.unsupported_count"
"""How many sentences were found unsupported."""
GUARD_RESPONSE: Final = "rag.guard.response"
"""What left in place of the answer, where that is another text. `output.value` is the answer that was judged."""
INCOMPLETE: Final = "rag.incomplete"
"""True on a span created by rag-otel whose stream was closed before its end."""
OMITTED_DOCUMENTS: Final = "rag.omitted_document_count"
"""How many documents, counted from the end of the list, are missing on a span created by rag-otel, because the SDK's
attribute limit was reached or the call had more documents than are recorded."""
OMITTED_CHARACTERS: Final = "rag.omitted_character_count"
"""How many characters of question, answer and documents are missing on a span created by rag-otel, because the limit of
recorded text was reached."""
MEMORY: Final = "rag.memory"
"""JSON array of texts on a span created by rag-otel: what the application remembered and gave to the model."""
HISTORY: Final = "rag.history"
"""JSON array of texts on a span created by rag-otel: by turns the role (`user`, `assistant`) and the text of each
earlier message. It is one text, because the SDK takes a microsecond for each item of an array."""
TAG_PREFIX: Final = "rag.tag."
MARKER: Final = "rag.doctor.marker"
"""Set on the test span of `rag-otel doctor`, which then searches for it."""

RESERVED_METRIC_NAMES: Final = frozenset({"status", "status_reason"})
_METRIC_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")


def metric_key(metric: str, field: str) -> str:
    """Returns the attribute name of one field of one metric: `rag.evaluation.<metric>.<field>`."""
    return f"{EVALUATION}.{metric}.{field}"


def check_metric_name(name: str) -> str:
    """Returns `name` if it can be part of an attribute name. Raises ValueError otherwise, saying what is allowed."""
    if name in RESERVED_METRIC_NAMES or not _METRIC_NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} cannot be a metric's name: use lower-case letters, digits and underscores, "
            f"starting with a letter, and none of {sorted(RESERVED_METRIC_NAMES)}"
        )
    return name
