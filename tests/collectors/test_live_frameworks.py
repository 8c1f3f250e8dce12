"""The frameworks as they are installed, under their current instrumentations, with models that answer from a script: a
change upstream shows here, where the recorded traces cannot show it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag_otel.model import RagTrace, UnevaluableReason
from rag_otel.records import span_record
from rag_otel_collectors.conventions import default_conventions
from tests.collectors.spans import ANSWER, EUROPE, PARIS, QUESTION

CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


def langchain_chain() -> None:
    """A chain of retriever, prompt, model and parser."""
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.output_parsers import StrOutputParser
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnablePassthrough

    class Passages(BaseRetriever):
        def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
            return [Document(page_content=PARIS), Document(page_content=EUROPE)]

    prompt = ChatPromptTemplate.from_messages([("human", "Context: {context}\nQuestion: {question}")])
    parts = {"context": Passages(), "question": RunnablePassthrough()}
    chain = parts | prompt | FakeListChatModel(responses=[ANSWER]) | StrOutputParser()
    assert chain.invoke(QUESTION) == ANSWER


def llama_index_query() -> None:
    """A query engine over a retriever."""
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

    class Passages(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            return [NodeWithScore(node=TextNode(text=text), score=0.5) for text in (PARIS, EUROPE)]

    class Model(CustomLLM):
        @property
        def metadata(self) -> LLMMetadata:
            return LLMMetadata(model_name="scripted")

        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
            return CompletionResponse(text=ANSWER)

        def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
            yield self.complete(prompt)

    engine = RetrieverQueryEngine.from_args(Passages(), llm=Model())
    assert str(engine.query(QUESTION)) == ANSWER


def haystack_pipeline() -> None:
    """A pipeline of retriever, prompt builder and generator."""
    from haystack import Document, Pipeline
    from haystack.components.builders import ChatPromptBuilder
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.dataclasses import ChatMessage
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    from tests.collectors.scripted_haystack import ScriptedChatGenerator

    store = InMemoryDocumentStore()
    store.write_documents([Document(content=PARIS), Document(content=EUROPE)])
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(document_store=store))
    template = "{% for d in documents %}{{ d.content }}\n{% endfor %}Question: {{ question }}"
    builder = ChatPromptBuilder(
        template=[ChatMessage.from_user(template)], required_variables=["documents", "question"]
    )
    pipeline.add_component("prompt", builder)
    pipeline.add_component("generator", ScriptedChatGenerator())
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt.prompt", "generator.messages")
    done = pipeline.run({"retriever": {"query": QUESTION}, "prompt": {"question": QUESTION}})
    assert done["generator"]["replies"][0].text == ANSWER


@contextmanager
def instrumented(module: str, name: str) -> Iterator[InMemorySpanExporter]:
    """The instrumentation's spans, as long as the block lasts."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrumentor = getattr(importlib.import_module(module), name)()
    instrumentor.instrument(tracer_provider=provider, skip_dep_check=True)
    try:
        yield exporter
    finally:
        instrumentor.uninstrument()
        provider.shutdown()


def read(exporter: InMemorySpanExporter) -> RagTrace:
    """The one RAG trace of what was exported."""
    spans = [span_record(span) for span in exporter.get_finished_spans()]
    (trace,) = (trace for convention in default_conventions() for trace in convention.read(spans))
    return trace


@pytest.mark.parametrize(
    ("module", "name", "application", "dialect"),
    [
        ("openinference.instrumentation.langchain", "LangChainInstrumentor", langchain_chain, "openinference"),
        ("openinference.instrumentation.llama_index", "LlamaIndexInstrumentor", llama_index_query, "openinference"),
        ("openinference.instrumentation.haystack", "HaystackInstrumentor", haystack_pipeline, "openinference"),
        ("opentelemetry.instrumentation.langchain", "LangchainInstrumentor", langchain_chain, "traceloop"),
    ],
)
def test_a_question_is_read_whole(module: str, name: str, application: Callable[[], None], dialect: str) -> None:
    """Question, both passages and answer of one call, with nothing missing."""
    with instrumented(module, name) as exporter:
        application()
    trace = read(exporter)
    assert (trace.convention, trace.unevaluable_reason) == (dialect, None)
    assert (trace.question, trace.response) == (QUESTION, ANSWER)
    assert sorted(chunk.text for chunk in trace.chunks) == sorted([PARIS, EUROPE])


def test_what_the_official_instrumentation_leaves_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """The retrieval of LangChain is seen with its query; its documents have neither ids nor texts."""
    monkeypatch.setenv(CONTENT, "SPAN_ONLY")
    with instrumented("opentelemetry.instrumentation.genai.langchain", "LangChainInstrumentor") as exporter:
        langchain_chain()
    trace = read(exporter)
    assert (trace.convention, trace.question, len(trace.chunks)) == ("genai", QUESTION, 2)
    assert trace.unevaluable_reason is UnevaluableReason.NO_CHUNK_TEXT
