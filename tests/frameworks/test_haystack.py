"""Haystack under OpenInference, its one instrumentation that knows Haystack 3."""

from __future__ import annotations

import pytest
from haystack import Document, Pipeline, component
from haystack.components.builders import ChatPromptBuilder, PromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore
from openinference.instrumentation.haystack import HaystackInstrumentor

from tests.frameworks.kit import ANSWER, QUESTION, TEXTS, running, told
from tests.frameworks.scripted_generators import ScriptedChatGenerator


@component
class Scripted:
    """A generator of the application's own: no instrumentation knows it for a model."""

    @component.output_types(replies=list[str])
    def run(self, prompt: str) -> dict[str, list[str]]:
        return {"replies": [ANSWER]}


TEMPLATE = "{% for document in documents %}{{ document.content }}{% endfor %} {{ question }}"
VARIABLES = ["documents", "question"]


def pipeline(prompt: object, model: object) -> Pipeline:
    """A retriever, something that makes a prompt, something that answers."""
    store = InMemoryDocumentStore()
    store.write_documents([Document(id=chunk_id, content=text) for chunk_id, text in TEXTS.items()])
    made = Pipeline()
    made.add_component("retriever", InMemoryBM25Retriever(store, top_k=1))
    made.add_component("prompt", prompt)
    made.add_component("model", model)
    made.connect("retriever", "prompt.documents")
    made.connect("prompt", "model")
    return made


CHAT = ChatPromptBuilder(template=[ChatMessage.from_user(TEMPLATE)], required_variables=VARIABLES)


@pytest.mark.parametrize(
    ("prompt", "model"),
    [
        (PromptBuilder(template=TEMPLATE, required_variables=VARIABLES), Scripted()),
        (CHAT, ScriptedChatGenerator()),
    ],
    ids=["text", "chat"],
)
def test_pipeline(prompt: object, model: object) -> None:
    """The pipeline's span is scored: its input is keyed by component, its answer is among the replies."""
    with running() as run:
        run.under(HaystackInstrumentor())
        pipeline(prompt, model).run({"retriever": {"query": QUESTION}, "prompt": {"question": QUESTION}})
        trace = run.read_one()
        assert told(trace) == ("openinference", QUESTION, [TEXTS["d1"]], ANSWER, None)
        assert trace.chunks[0].id == "d1"
        assert trace.chunks[0].score is not None
        assert run.statuses() == {"Pipeline.run": ("evaluated", None, 1.0)}
