"""Scripted models that LlamaIndex calls in these tests."""

from __future__ import annotations

from typing import Any

from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata, MockLLM
from llama_index.core.llms.callbacks import llm_completion_callback

from tests.frameworks.kit import ANSWER


class Scripted(CustomLLM):
    """Says the same, whatever is asked."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="scripted")

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **options: Any) -> CompletionResponse:
        return CompletionResponse(text=ANSWER)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **options: Any) -> CompletionResponseGen:
        for end in range(1, len(ANSWER) + 1):
            yield CompletionResponse(text=ANSWER[:end], delta=ANSWER[end - 1])


class WithoutCallback(Scripted):
    """A model of one's own that LlamaIndex does not announce, because its methods have no callback."""

    def stream_complete(self, prompt: str, formatted: bool = False, **options: Any) -> CompletionResponseGen:
        yield CompletionResponse(text=ANSWER, delta=ANSWER)


class Chatting(MockLLM):
    """Takes messages, not one prompt."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, model_name="scripted")
