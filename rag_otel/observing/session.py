"""What the application says beside the decorated function: who is asking, what was retrieved, remembered, said before.

Session, user and tags stand in the OpenTelemetry context, session and user under OpenInference's names: its
instrumentations put them on their spans too, and what its own `using_session` and `using_user` say is heard here.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import Token
from itertools import islice
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.context import Context, attach, create_key, detach, get_current, get_value, set_value
from opentelemetry.trace import get_current_span

from rag_otel import semconv
from rag_otel.evaluation.conversation import ASSISTANT, MAX_MESSAGES, USER
from rag_otel.observing.allowance import Allowance
from rag_otel.observing.call_snapshot import OBSERVATION_KEY
from rag_otel.observing.shapes import text_of
from rag_otel.safety.guard import counters, guarded, logger, report_internal_error

if TYPE_CHECKING:
    from rag_otel.observing.call import ObservedCall

TAGS_KEY: Final = create_key("rag-otel-tags")
"""Where the tags that `using` has put there stand in a context, as a dict."""
_ROLES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("user", "human", "User", "USER", "Human"), USER),
    **dict.fromkeys(("assistant", "ai", "Assistant", "ASSISTANT", "AI", "model"), ASSISTANT),
}


class using:  # noqa: N801 - reads as a keyword at the place of use
    """`with using(session_id="s-1", user_id="u-7", tags={"tenant": "acme"}):` - `async with` works too.

    Inner blocks add to outer ones and win over them; a selector of `@observe` wins over both. A generator counts as
    started when its first item is asked for.
    """

    def __init__(
        self, *, session_id: str | None = None, user_id: str | None = None, tags: Mapping[str, str] | None = None
    ) -> None:
        self._session_id = session_id
        self._user_id = user_id
        self._tags = tags
        self._tokens: list[Token[Context]] = []

    def __enter__(self) -> using:
        context = get_current()
        if self._session_id is not None:
            context = set_value(semconv.SESSION_ID, str(self._session_id), context)
        if self._user_id is not None:
            context = set_value(semconv.USER_ID, str(self._user_id), context)
        if self._tags:
            around: Any = context.get(TAGS_KEY) or {}
            context = set_value(TAGS_KEY, {**around, **as_tags(self._tags)}, context)
        self._tokens.append(attach(context))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        detach(self._tokens.pop())

    async def __aenter__(self) -> using:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)


def current_trace_id() -> str | None:
    """The id of the trace that this code runs in, 32 hex digits: what a frontend sends back with a rating
    (`rag_otel.feedback`). None outside of every span."""
    context = get_current_span().get_span_context()
    return f"{context.trace_id:032x}" if context.is_valid else None


def as_tags(value: object) -> dict[str, str]:
    """A mapping as tags: text to text, without what is None."""
    if not isinstance(value, Mapping):
        return {}
    return {str(name): str(tag) for name, tag in value.items() if tag is not None}


def turns_in(messages: object, allowance: Allowance) -> tuple[str, ...]:
    """The newest messages of user and assistant, of the argument that `@observe(history=...)` names, oldest first, as
    one flat tuple: role, text, role, text, ...

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


def record_memory(memory: object) -> None:
    """Say what the application remembered and gave to the model, for the observed call that is running.

    It counts as context beside the retrieved chunks, for metrics that check the answer against its context, and is no
    retrieval. `memory` is a text, or a list of texts or documents as in `record_chunks`; another call adds to it.
    Outside of an observed call, or in one that is not recorded, nothing happens. Never raises.
    """
    try:
        call: ObservedCall | None = get_value(OBSERVATION_KEY)  # type: ignore[assignment]
        if call is not None and not call.remember(memory) and counters.add("observe.memory_unreadable") == 1:
            logger.warning("rag-otel: record_memory() cannot read %s as texts", type(memory).__name__)
    except Exception as problem:
        if not report_internal_error("observe.record_memory", problem):
            raise


def record_chunks(documents: object) -> None:
    """Say what was retrieved for the observed call that is running: for functions that return the answer alone.

    `documents` is a list of strings, dicts or documents of a library (see `rag_otel.observing.documents`); when it is
    called again, the second list follows the first. What is recorded goes before what stands in the result. Outside
    of an observed call, or in one that is not recorded, nothing happens. Never raises.
    """
    with guarded("observe.record_chunks"):
        call: ObservedCall | None = get_value(OBSERVATION_KEY)  # type: ignore[assignment]
        if call is not None and not call.record(documents) and counters.add("observe.chunks_unreadable") == 1:
            logger.warning("rag-otel: record_chunks() cannot read %s as documents", type(documents).__name__)
