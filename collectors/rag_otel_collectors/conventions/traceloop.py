"""Traceloop's OpenLLMetry: each step has its input and output as JSON, model calls use the GenAI conventions, and
vector stores write an event for each result.

Source: https://www.traceloop.com/docs/openllmetry/contributing/semantic-conventions, and the spans that the packages
emit. For streams, LlamaIndex exports no root span, and the answer only if the model client is instrumented too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import SpanRecord, StatusCode, UnevaluableReason
from rag_otel_collectors.conventions.genai import GenAi
from rag_otel_collectors.conventions.reading.dialect import Found, RecordedAnswer, Role
from rag_otel_collectors.conventions.reading.documents import Document, documents_in
from rag_otel_collectors.conventions.reading.retrieval import Listed, Retrieval, listed, text_problem
from rag_otel_collectors.conventions.reading.values import (
    all_text,
    answer_text,
    finite,
    is_cut,
    parse,
    parse_object,
    parse_whole,
    question_text,
)

_INSTRUMENTED: Final = frozenset(
    f"opentelemetry.instrumentation.{name}"
    for name in (
        *("alephalpha", "anthropic", "bedrock", "cohere", "crewai", "google_generativeai", "groq", "haystack"),
        *("langchain", "llamaindex", "mistralai", "ollama", "openai", "openai.v0", "openai.v1", "openai_agents"),
        *("replicate", "sagemaker", "together", "transformers", "vertexai", "voyageai", "watsonx", "writer"),
    )
)
"""Scopes of OpenLLMetry's packages. Other instrumentations use the same prefix."""
_LLAMA_INDEX: Final = "opentelemetry.instrumentation.llamaindex"
_SDK: Final = "traceloop.tracer"
_MODEL_INPUTS: Final = ('"formatted": ', '{"messages": [')
"""The beginning of the arguments of a LlamaIndex model's methods. They identify a model call of any class."""
_REQUEST_TYPE: Final = "llm.request.type"
_KINDS: Final = {"tool": Role.TOOL, "agent": Role.AGENT}


class Traceloop(GenAi):
    """The dialect of OpenLLMetry."""

    name = "traceloop"

    def owns(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return (
            semconv.TRACELOOP_KIND in attributes
            or semconv.TRACELOOP_WORKFLOW in attributes
            or scope in _INSTRUMENTED
            or scope in VECTOR_STORES
            or scope == _SDK
        )

    def retrieves(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return searches(scope, attributes) or chooses(attributes)

    def calls(self, scope: str, attributes: Mapping[str, Any]) -> bool:
        return super().calls(scope, attributes) or _is_model_call(scope, attributes)

    def role(self, span: SpanRecord) -> Role:
        attributes = span.attributes
        if self.retrieves(span.scope, attributes):
            return Role.RETRIEVAL
        kind = attributes.get(semconv.TRACELOOP_KIND)
        if isinstance(kind, str) and kind in _KINDS:
            return _KINDS[kind]
        role = super().role(span)
        if role in (Role.MODEL, Role.EMBEDDING):
            return role
        return Role.MODEL if _is_model_call(span.scope, attributes) else Role.CHAIN

    def question(self, span: SpanRecord) -> Found | None:
        """The span's input. For a stream in LangChain, the inputs that are recorded in its output."""
        inputs = entity(span, semconv.TRACELOOP_INPUT)
        text = None if self.role(span) is Role.MODEL else question_text(_arguments(inputs))
        if text:
            return Found(text=text, attribute=semconv.TRACELOOP_INPUT)
        output = entity(span, semconv.TRACELOOP_OUTPUT)
        more = output.get("kwargs") if isinstance(output, Mapping) else None
        text = question_text(more.get("inputs")) if isinstance(more, Mapping) else None
        return Found.of(text, semconv.TRACELOOP_OUTPUT) or self.asked(span)

    def answer(self, span: SpanRecord) -> RecordedAnswer:
        output = entity(span, semconv.TRACELOOP_OUTPUT)
        if isinstance(output, Mapping) and "outputs" in output:
            if output["outputs"] is None:
                return RecordedAnswer(abandoned=True)
            output = output["outputs"]
        found = Found.of(answer_text(output), semconv.TRACELOOP_OUTPUT)
        return super().answer(span) if found is None else RecordedAnswer(found=found)

    def wrote(self, call: SpanRecord) -> Found | None:
        text = answer_text(entity(call, semconv.TRACELOOP_OUTPUT))
        return super().wrote(call) or Found.of(text, semconv.TRACELOOP_OUTPUT)

    def prompt(self, call: SpanRecord) -> str:
        return super().prompt(call) or "\n".join(all_text(entity(call, semconv.TRACELOOP_INPUT)))

    def retrieval(self, span: SpanRecord) -> Retrieval | None:
        if self.retrieves(span.scope, span.attributes):
            return read_retrieval(span)
        return super().retrieval(span) if self.role(span) is Role.TOOL else None

    def missing(self, span: SpanRecord) -> UnevaluableReason | None:
        cut = any(is_cut(span.attributes.get(key)) for key in (semconv.TRACELOOP_INPUT, semconv.TRACELOOP_OUTPUT))
        return UnevaluableReason.TRUNCATED if cut else super().missing(span)


def _is_model_call(scope: str, attributes: Mapping[str, Any]) -> bool:
    if semconv.GEN_AI_OUTPUT_MESSAGES in attributes or attributes.get(_REQUEST_TYPE) in ("chat", "completion"):
        return True
    inputs = attributes.get(semconv.TRACELOOP_INPUT)
    return scope == _LLAMA_INDEX and isinstance(inputs, str) and any(sign in inputs for sign in _MODEL_INPUTS)


def _arguments(inputs: Any) -> Any:
    """The arguments of a decorated function: the keyword arguments, or the first positional one if there are none."""
    if isinstance(inputs, Mapping) and inputs.keys() == {"args", "kwargs"}:
        named, given = inputs["kwargs"], inputs["args"]
        return named or (given[0] if isinstance(given, list) and given else None)
    return inputs


VECTOR_STORES: Final = frozenset(
    f"opentelemetry.instrumentation.{name}"
    for name in ("chromadb", "lancedb", "marqo", "milvus", "pinecone", "qdrant", "weaviate")
)
_OPERATION: Final = "vector_db_retrieve"
_RETRIEVER: Final = "Retriever."
_CHOOSERS: Final = ("Postprocessor.", "Rerank.", "Reranker.")
"""Parts of entity names in LlamaIndex, which have the form `<class>.<kind>`."""
_QUERY: Final = semconv.DB_QUERY_RESULT
_NODES: Final = "nodes"


def searches(scope: str, attributes: Mapping[str, Any]) -> bool:
    """True for a retriever and for a span of a vector store. Parses nothing."""
    if attributes.get(semconv.GEN_AI_OPERATION_NAME) == _OPERATION or scope in VECTOR_STORES:
        return True
    name = attributes.get(semconv.TRACELOOP_ENTITY)
    return isinstance(name, str) and _RETRIEVER in name


def chooses(attributes: Mapping[str, Any]) -> bool:
    """True for a LlamaIndex postprocessor or reranker."""
    name = attributes.get(semconv.TRACELOOP_ENTITY)
    return isinstance(name, str) and any(part in name for part in _CHOOSERS)


def entity(span: SpanRecord, key: str) -> Any:
    """The parsed input or output of a step. None if a length limit cut it."""
    value = span.attributes.get(key)
    if not isinstance(value, str):
        return None
    return _string(value) if value[:1] == '"' else parse_whole(value)


def read_retrieval(span: SpanRecord) -> Retrieval | None:
    """The documents that a retriever, a postprocessor or a vector store returned. None for a failed postprocessor and
    for other operations of a vector store."""
    if span.scope in VECTOR_STORES:
        return _from_events(span)
    inputs = entity(span, semconv.TRACELOOP_INPUT)
    fed = documents_in(_unwrapped(inputs.get(_NODES))) if isinstance(inputs, Mapping) and _NODES in inputs else None
    failed = span.status is StatusCode.ERROR
    if chooses(span.attributes) and (failed or fed is None):
        return None
    documents, problem = ((), None) if failed else _documents(span)
    return Retrieval(
        span=span,
        documents=documents,
        problem=problem,
        query=question_text(inputs),
        query_attribute=semconv.TRACELOOP_INPUT,
        attribute=semconv.TRACELOOP_OUTPUT if documents else "",
        fed=fed if chooses(span.attributes) else None,
        in_order=False,
    )


def _documents(span: SpanRecord) -> Listed:
    value = span.attributes.get(semconv.TRACELOOP_OUTPUT)

    def missing() -> UnevaluableReason:
        truncated = is_cut(value) or (value is None and span.dropped_attributes > 0)
        return UnevaluableReason.TRUNCATED if truncated else UnevaluableReason.NO_CHUNK_TEXT

    return listed(_unwrapped(entity(span, semconv.TRACELOOP_OUTPUT)), missing)


def _unwrapped(value: Any) -> Any:
    """Parses the items of a list, because LlamaIndex writes nodes as JSON text within JSON."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [parse(item) for item in value]
    return value


def _from_events(span: SpanRecord) -> Retrieval | None:
    """One document for each `db.query.result` event of a vector store. None without such events (an insert)."""
    found = [attributes for name, attributes in span.events if name == _QUERY]
    if not found:
        return None
    documents = tuple(
        Document(
            text=text if isinstance(text := event.get(f"{_QUERY}.document"), str) else None,
            id=str(named) if isinstance(named := event.get(f"{_QUERY}.id"), str | int) else None,
            score=finite(event.get(f"{_QUERY}.score")),
            metadata=parse_object(event.get(f"{_QUERY}.metadata")),
        )
        for event in found
    )
    problem = text_problem(documents, truncated=False)
    return Retrieval(span=span, documents=documents, problem=problem, attribute="events", in_order=False)


def _string(value: str) -> str:
    """The text of a JSON string (`"Paris."`), or `value` itself if it only begins with a quotation mark."""
    parsed = parse(value, semconv.MIME_JSON)
    return parsed if isinstance(parsed, str) else value
