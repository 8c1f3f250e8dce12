"""What LangChain calls in these tests: a retriever, scripted models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.retrievers import BaseRetriever
from langchain_openai import ChatOpenAI

from tests.frameworks.kit import ANSWER, TEXTS


class Shelf(BaseRetriever):
    """Two documents, whatever is asked."""

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return [Document(page_content=text, id=chunk_id) for chunk_id, text in TEXTS.items()]


class ScriptedChat(GenericFakeChatModel):
    """A chat model with tools that says what it is told to."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self


class StreamedChat(ChatOpenAI):
    """OpenAI's model as LangChain sees it, whose answer comes letter by letter and from no server."""

    def _stream(self, *arguments: Any, **options: Any) -> Iterator[ChatGenerationChunk]:
        yield from (ChatGenerationChunk(message=AIMessageChunk(content=letter)) for letter in ANSWER)
