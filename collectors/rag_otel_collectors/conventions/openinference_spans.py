"""What single OpenInference spans say: their kind, input and output, and the documents of retrievers, rerankers and
the filters between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from rag_otel import semconv
from rag_otel.model import SpanRecord, StatusCode, UnevaluableReason
from rag_otel_collectors.conventions.compose import missing_text
from rag_otel_collectors.conventions.documents import Document, documents_in, flattened_documents
from rag_otel_collectors.conventions.messages import ASSISTANT, USER, flattened_messages, last_text
from rag_otel_collectors.conventions.retrieval import Retrieval, text_problem
from rag_otel_collectors.conventions.values import answer_text, parse, parse_object, question_text

RETRIEVALS: Final = (semconv.KIND_RETRIEVER, semconv.KIND_RERANKER)

_HAYSTACK: Final = "openinference.instrumentation.haystack"
_LLAMA_INDEX: Final = "openinference.instrumentation.llama_index"
_THOUGHTS: Final = re.compile(r"\A\s*Thought:.*?\n[ \t]*(?:Final )?Answer:\s*", re.S)
_PROMPT_TEMPLATE: Final = "llm.prompt_template.template"
_POSTPROCESSING: Final = "postprocess_nodes"


def kind(span: SpanRecord) -> Any:
    """The value of `openinference.span.kind`, None where it has none."""
    return span.attributes.get(semconv.SPAN_KIND)


def is_evaluator(span: SpanRecord) -> bool:
    """True for a judge's own span: what hangs below it is no application traffic."""
    return bool(kind(span) == semconv.KIND_EVALUATOR)


def is_model_call(span: SpanRecord) -> bool:
    """True for a span that called a language model. Haystack's PromptBuilder is of kind LLM too and calls none."""
    if kind(span) != semconv.KIND_LLM:
        return False
    return _PROMPT_TEMPLATE not in span.attributes or any(
        key in span.attributes for key in (semconv.LLM_MODEL_NAME, semconv.LLM_INVOCATION_PARAMETERS)
    )


def parsed_input(span: SpanRecord) -> Any:
    return parse(span.attributes.get(semconv.INPUT_VALUE), span.attributes.get(semconv.INPUT_MIME_TYPE))


def parsed_output(span: SpanRecord) -> Any:
    return parse(span.attributes.get(semconv.OUTPUT_VALUE), span.attributes.get(semconv.OUTPUT_MIME_TYPE))


def asked_text(call: SpanRecord) -> str | None:
    """The user's last message to the model in this call."""
    return last_text(flattened_messages(call.attributes, semconv.LLM_INPUT_MESSAGES), USER)


def written_text(call: SpanRecord) -> str | None:
    """What the model wrote in this call, without the thoughts that a ReAct agent has before its answer."""
    messages = flattened_messages(call.attributes, semconv.LLM_OUTPUT_MESSAGES)
    text = last_text(messages, ASSISTANT) or answer_text(parsed_output(call))
    return None if text is None else _THOUGHTS.sub("", text)


def model_name(calls: Sequence[SpanRecord]) -> str | None:
    """The model of the last of these calls that names one."""
    for call in reversed(calls):
        parameters = parse_object(call.attributes.get(semconv.LLM_INVOCATION_PARAMETERS))
        named = call.attributes.get(semconv.LLM_MODEL_NAME)
        for name in (named, parameters.get("model"), parameters.get("model_name")):
            if isinstance(name, str) and name not in ("", "unknown"):
                return name
    return None


def read_retrieval(span: SpanRecord) -> Retrieval | None:
    """What a RETRIEVER returned, or what a RERANKER or a framework's own filter chose; None for any other span."""
    if kind(span) == semconv.KIND_RETRIEVER:
        if span.status is StatusCode.ERROR:
            return Retrieval(span=span, query=_query(span))
        documents, problem = _documents(span, semconv.DOCUMENTS)
        return Retrieval(span=span, documents=documents, problem=problem, query=_query(span))
    if span.status is StatusCode.ERROR:
        return None
    if kind(span) == semconv.KIND_RERANKER:
        documents, problem = _documents(span, semconv.RERANKER_OUTPUT_DOCUMENTS)
        fed = flattened_documents(span.attributes, semconv.RERANKER_INPUT_DOCUMENTS).documents
        return Retrieval(span=span, documents=documents, problem=problem, query=_query(span), fed=fed)
    return _read_filter(span)


def _read_filter(span: SpanRecord) -> Retrieval | None:
    """LlamaIndex's postprocessors and Haystack's joiners and filters: plain CHAINs that name documents by `repr`."""
    if kind(span) != semconv.KIND_CHAIN:
        return None
    if span.scope.startswith(_LLAMA_INDEX) and span.name.endswith(_POSTPROCESSING):
        fed, chosen = parse_object(parsed_input(span)).get("nodes"), parsed_output(span)
    elif span.scope.startswith(_HAYSTACK):
        fed, chosen = (parse_object(value).get("documents") for value in (parsed_input(span), parsed_output(span)))
    else:
        return None
    given, documents = documents_in(_flat(fed)), documents_in(chosen)
    if not given or documents is None:
        return None
    return Retrieval(span=span, documents=documents, fed=given, by_name=True)


def _flat(value: Any) -> Any:
    """One list out of a joiner's list of lists."""
    if isinstance(value, list) and value and all(isinstance(item, list) for item in value):
        return [each for item in value for each in item]
    return value


def _query(span: SpanRecord) -> str | None:
    query = span.attributes.get(semconv.RERANKER_QUERY)
    return query if isinstance(query, str) else question_text(parsed_input(span))


def _documents(span: SpanRecord, prefix: str) -> tuple[tuple[Document, ...], UnevaluableReason | None]:
    """The documents of a retrieval span and what is wrong with them.

    The JSON of `output.value` fills in what the flattened attributes lack (LangChain's ids stand only there), but
    never where a privacy switch hid something: it may still hold the very text.
    """
    flat = flattened_documents(span.attributes, prefix)
    if text_problem(flat.documents, truncated=False) is UnevaluableReason.REDACTED:
        return flat.documents, UnevaluableReason.REDACTED
    truncated = flat.gap or (span.dropped_attributes > 0 and bool(flat.documents))
    if flat.documents and not truncated and all(document.id is not None for document in flat.documents):
        return flat.documents, text_problem(flat.documents, truncated=False)
    output = parsed_output(span)
    listed = documents_in(output)
    if not flat.documents:
        if output == semconv.REDACTED:
            return (), UnevaluableReason.REDACTED
        if listed is None:
            return (), missing_text(span, UnevaluableReason.NO_CHUNK_TEXT)
        return listed, text_problem(listed, truncated=False)
    if truncated and listed is not None and _covers(listed, flat.documents):
        return listed, None
    return _with_ids(flat.documents, listed or ()), text_problem(flat.documents, truncated=truncated)


def _covers(listed: Sequence[Document], flat: Iterable[Document]) -> bool:
    texts = {document.text for document in listed}
    return None not in texts and all(document.text in texts for document in flat)


def _with_ids(documents: Sequence[Document], listed: Sequence[Document]) -> tuple[Document, ...]:
    if len(documents) != len(listed):
        return tuple(documents)
    return tuple(
        replace(document, id=other.id) if document.id is None and document.text == other.text else document
        for document, other in zip(documents, listed, strict=True)
    )
