"""The earlier messages that an observed call was given: the argument that `@observe(history=...)` names.

Read as the call starts, because most applications add the next turn to the same list.
"""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from rag_otel.evaluation.conversation import ASSISTANT, MAX_MESSAGES, USER
from rag_otel.observing.limits import Allowance
from rag_otel.observing.shapes import text_of

_ROLES: Final = {"user": USER, "human": USER, "assistant": ASSISTANT, "ai": ASSISTANT}


def turns_in(messages: object, allowance: Allowance) -> tuple[str, ...]:
    """The newest messages of user and assistant, oldest first, as one flat tuple: role, text, role, text, ...

    Messages are mappings or objects with `role` or `type`, or `(role, text)` pairs. At most `MAX_MESSAGES` are looked
    at. What is no list of messages gives an empty tuple.
    """
    if not isinstance(messages, (list, tuple)):
        return ()
    found: list[str] = []
    for message in islice(reversed(messages), MAX_MESSAGES):
        role, text = _role_and_text(message, allowance)
        if role is not None and text:
            found += (allowance.text(text), role)
    found.reverse()
    return tuple(found)


def _role_and_text(message: Any, allowance: Allowance) -> tuple[str | None, str | None]:
    if type(message) is dict:
        role, content = message.get("role") or message.get("type"), message.get("content")
    elif isinstance(message, (list, tuple)):
        role, content = message if len(message) == 2 else (None, None)
    else:
        role, content = getattr(message, "role", None) or getattr(message, "type", None), message
    name = _ROLES.get(str(getattr(role, "value", role)).lower())
    if name is None:
        return None, None
    return name, content if isinstance(content, str) else text_of(content, allowance=allowance)
