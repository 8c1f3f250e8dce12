"""What Haystack runs in these tests. It reads the types as they are: no postponed annotations here."""

from haystack import Document, Pipeline, component
from haystack.components.builders import ChatPromptBuilder, PromptBuilder
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.dataclasses import ChatMessage
from haystack.document_stores.in_memory import InMemoryDocumentStore

from tests.frameworks.kit import ANSWER, TEXTS
from tests.frameworks.scripted_generators import ScriptedChatGenerator

TEMPLATE = "{% for document in documents %}{{ document.content }}{% endfor %} {{ question }}"
VARIABLES = ["documents", "question"]


@component
class Scripted:
    """A generator of the application's own: no instrumentation knows it for a model."""

    @component.output_types(replies=list[str])
    def run(self, prompt: str) -> dict[str, list[str]]:
        return {"replies": [ANSWER]}


def pipeline(kind: str) -> Pipeline:
    """A retriever, something that makes a prompt, something that answers; of texts or of a chat's messages."""
    if kind == "text":
        prompt, model = PromptBuilder(template=TEMPLATE, required_variables=VARIABLES), Scripted()
    else:
        messages = [ChatMessage.from_user(TEMPLATE)]
        prompt, model = ChatPromptBuilder(template=messages, required_variables=VARIABLES), ScriptedChatGenerator()
    store = InMemoryDocumentStore()
    store.write_documents([Document(id=chunk_id, content=text) for chunk_id, text in TEXTS.items()])
    made = Pipeline()
    made.add_component("retriever", InMemoryBM25Retriever(store, top_k=1))
    made.add_component("prompt", prompt)
    made.add_component("model", model)
    made.connect("retriever", "prompt.documents")
    made.connect("prompt", "model")
    return made
