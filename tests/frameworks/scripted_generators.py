"""A Haystack generator that answers from a script. Its instrumentation finds components by the name of their module,
and Haystack reads the types as they are: no postponed annotations here."""

from typing import Any

from haystack import component
from haystack.dataclasses import ChatMessage

from tests.frameworks.kit import ANSWER


@component
class ScriptedChatGenerator:
    """Answers everything alike."""

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage]) -> dict[str, Any]:
        return {"replies": [ChatMessage.from_assistant(ANSWER)]}
