"""Reads chat messages in the forms that frameworks write: flattened attributes, or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from rag_otel.lazy_dataclass import dataclass

USER: Final = "user"
ASSISTANT: Final = "assistant"

_DIGITS: Final = 9
"""Of a number in a key, at most."""
_ROLES: Final = {
    "user": USER,
    "human": USER,
    "humanmessage": USER,
    "humanmessagechunk": USER,
    "assistant": ASSISTANT,
    "ai": ASSISTANT,
    "model": ASSISTANT,
    "aimessage": ASSISTANT,
    "aimessagechunk": ASSISTANT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message of a chat."""

    role: str
    """`user`, `assistant`, or another role as it was written."""
    text: str | None
    """None for a message without text: a tool call, an image."""


def last_text(messages: Sequence[ChatMessage], role: str) -> str | None:
    """The text of the last message of that role that has a text."""
    return next((m.text for m in reversed(messages) if m.role == role and m.text), None)


def numbered(attributes: Mapping[str, Any], prefix: str) -> dict[int, dict[str, Any]]:
    """The attributes `<prefix>.<n>.<name>`: number -> name -> value, in order of the numbers."""
    start, found = f"{prefix}.", dict[int, dict[str, Any]]()
    for key, value in attributes.items():
        if key.startswith(start):
            number, _, name = key[len(start) :].partition(".")
            if number.isdecimal() and len(number) <= _DIGITS:
                found.setdefault(int(number), {})[name] = value
    return dict(sorted(found.items()))


def flattened_messages(attributes: Mapping[str, Any], prefix: str) -> list[ChatMessage]:
    """Reads OpenInference's `<prefix>.<n>.message.{role,content}` and
    `<prefix>.<n>.message.contents.<k>.message_content.text`."""
    found = []
    for fields in numbered(attributes, prefix).values():
        blocks = numbered(fields, "message.contents").values()
        texts = [fields.get("message.content"), *(block.get("message_content.text") for block in blocks)]
        found += _recorded(fields.get("message.role"), texts)
    return found


def numbered_messages(attributes: Mapping[str, Any], prefix: str) -> list[ChatMessage]:
    """Reads `<prefix>.<n>.{role,content}`, the form of the GenAI instrumentations of 2024."""
    default = ASSISTANT if prefix.endswith("completion") else ""
    found = []
    for fields in numbered(attributes, prefix).values():
        found += _recorded(fields.get("role"), [fields.get("content")], default=default)
    return found


def _recorded(role: Any, texts: Sequence[Any], *, default: str = "") -> list[ChatMessage]:
    """The message of this role and these texts. None is there if neither is a text."""
    if not any(isinstance(each, str) for each in (role, *texts)):
        return []
    return [ChatMessage(role=_role(role if isinstance(role, str) else default), text=_joined(texts))]


def read_messages(value: Sequence[Any]) -> list[ChatMessage]:
    """Returns the messages of a parsed chat history. Empty if the list is something else.

    Known forms: `{role, content}`, `{role, parts: [{type: text, content}]}`, LangChain's `{type: human, content}`,
    `{type: human, data: {content}}` and serialised constructors, `["human", "text"]`, and a batch of one history.
    """
    if len(value) == 1 and is_list(value[0]) and not (value[0] and isinstance(value[0][0], str)):
        value = value[0]
    messages = [_read_message(item) for item in value]
    return [m for m in messages if m is not None] if any(messages) else []


def content_text(content: Any) -> str | None:
    """The text of a message's content, which is a string or a list of blocks. Only text blocks are used."""
    if isinstance(content, str):
        return content
    if not is_list(content):
        return None
    return _joined(
        block["text"] if isinstance(block.get("text"), str) else block.get("content")
        for block in content
        if isinstance(block, Mapping) and block.get("type") in ("text", "output_text", "input_text")
    )


def _read_message(item: Any) -> ChatMessage | None:
    if is_list(item) and len(item) == 2 and all(isinstance(part, str) for part in item):
        return (
            ChatMessage(role=_role(item[0]), text=item[1]) if item[0].lower() in _ROLES or item[0] == "system" else None
        )
    if not isinstance(item, Mapping):
        return None
    role = item.get("role") or item.get("type")
    body = item
    if role == "constructor" and is_list(item.get("id")) and item["id"]:
        role, body = item["id"][-1], _mapping(item.get("kwargs"))
    elif isinstance(item.get("data"), Mapping):
        body = item["data"]
    content = next((body[key] for key in ("content", "parts") if key in body), None)
    if not isinstance(role, str) or ("content" not in body and "parts" not in body):
        return None
    return ChatMessage(role=_role(role), text=content_text(content))


def _role(name: str) -> str:
    return _ROLES.get(name.lower(), name)


def _joined(texts: Iterable[Any]) -> str | None:
    parts = [text for text in texts if isinstance(text, str) and text]
    return "\n".join(parts) or None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def is_list(value: Any) -> bool:
    """True for a JSON list."""
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)
