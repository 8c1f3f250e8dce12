"""The earlier messages that an observed call was given: the argument that `@observe(history=...)` names.

Read as the call starts, because most applications add the next turn to the same list.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from rag_otel.evaluation.conversation import ASSISTANT, MAX_MESSAGES, USER
from rag_otel.observing.limits import Allowance
from rag_otel.observing.shapes import text_of

_ROLES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("user", "human", "User", "USER", "Human"), USER),
    **dict.fromkeys(("assistant", "ai", "Assistant", "ASSISTANT", "AI", "model"), ASSISTANT),
}


def turns_in(messages: object, allowance: Allowance) -> tuple[str, ...]:
    """The newest messages of user and assistant, oldest first, as one flat tuple: role, text, role, text, ...

    Messages are mappings or objects with `role` or `type`, or `(role, text)` pairs. At most `MAX_MESSAGES` are looked
    at. What is no list of messages gives an empty tuple.
    """
    if not isinstance(messages, (list, tuple)):
        return ()
    found: list[str] = []
    for message in islice(reversed(messages), MAX_MESSAGES):
        if type(message) is dict:  # by far the most usual
            role, content = message.get("role") or message.get("type"), message.get("content")
        else:
            role, content = _of_object(message)
        name = _ROLES.get(role) if type(role) is str else _ROLES.get(str(getattr(role, "value", role)).lower())
        text = content if type(content) is str else text_of(content, allowance=allowance)
        if name is not None and text:
            found += (allowance.text(text), name)
    found.reverse()
    return tuple(found)


def _of_object(message: Any) -> tuple[Any, Any]:
    if isinstance(message, (list, tuple)):
        return (message[0], message[1]) if len(message) == 2 else (None, None)
    return getattr(message, "role", None) or getattr(message, "type", None), message
