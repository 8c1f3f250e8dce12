"""From the arguments of `@observe` and a function's signature to the plan that every call of it follows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from rag_otel.lazy_dataclass import dataclass
from rag_otel.observing.selectors import (
    Arguments,
    Extractor,
    Selector,
    annotations_of,
    argument,
    compile_selector,
    fields_of,
    parameters_of,
)
from rag_otel.observing.shapes import CHUNK_NAMES, QUESTION_NAMES

_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_PASSED_IN = tuple(name for name in CHUNK_NAMES if name not in ("nodes", "hits", "sources"))
"""Names that nodes of a graph or links to follow would also have are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to take out of every call of one function; made while decorating."""

    name: str
    """The span's name."""
    question: Extractor | None
    chunks: Extractor | None
    """None: by the result's shape, then from `chunks_argument`."""
    chunks_argument: Extractor | None
    response: Extractor | None
    """None: by the result's shape."""
    labels: Mapping[str, Extractor]
    """For any of `reference`, `session_id`, `user_id`, `tags` and `history`."""
    capture_content: bool


def make_plan(
    function: Callable[..., Any],
    *,
    name: str | None,
    question: Selector | None,
    chunks: Selector | None,
    response: Selector | None,
    labels: Mapping[str, Selector | Mapping[str, Selector] | None],
    capture_content: bool,
) -> Plan:
    """Compile all selectors and settle the defaults. Raises SelectorError."""

    def compiled(role: str, selector: Selector | None) -> Extractor | None:
        return None if selector is None else compile_selector(role, selector, function)

    return Plan(
        name=name or _span_name(function),
        question=compiled("question", question) or _default_question(function),
        chunks=compiled("chunks", chunks),
        chunks_argument=_default_chunks_argument(function),
        response=compiled("response", response),
        labels={
            role: _compile_tags(selector, function)
            if isinstance(selector, Mapping)
            else compile_selector(role, selector, function)
            for role, selector in labels.items()
            if selector is not None
        },
        capture_content=capture_content,
    )


def _span_name(function: Callable[..., Any]) -> str:
    """`answer`, `Bot.answer`: the qualified name without the functions around it."""
    qualified = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(qualified).rpartition("<locals>.")[2]


def _compile_tags(tags: Mapping[str, Selector], function: Callable[..., Any]) -> Extractor:
    """One extractor for a mapping of tag to selector."""
    extractors = {tag: compile_selector(f"tags[{tag!r}]", selector, function) for tag, selector in tags.items()}

    def read(call: Arguments, result: Any) -> dict[str, Any]:
        return {tag: extractor.read(call, result) for tag, extractor in extractors.items()}

    return Extractor(read=read, needs_result=any(extractor.needs_result for extractor in extractors.values()))


def _default_question(function: Callable[..., Any]) -> Extractor | None:
    """The parameter of a usual name, else the first whose type has a field of a usual name, else the first that is
    annotated as text, else the first text argument."""
    parameters = parameters_of(function)
    named = [name for name, p in parameters.items() if p.kind not in _VARIADIC and name not in ("self", "cls")]
    annotations = annotations_of(function)
    asking = (name for name in QUESTION_NAMES if name in named)
    requests = (name for name in named if set(QUESTION_NAMES) & set(fields_of(annotations.get(name)) or ()))
    texts = (name for name in named if parameters[name].annotation in (str, "str") and not name.endswith("id"))
    chosen = next((name for names in (asking, requests, texts) for name in names), None)
    if chosen is None and len(named) == 1:
        chosen = named[0]
    if chosen is not None:
        return argument(function, chosen)
    return Extractor(read=lambda call, result: _first_text_argument(call), needs_result=False)


def _first_text_argument(call: Arguments) -> str | None:
    args, kwargs = call
    return next((value for value in (*args, *kwargs.values()) if isinstance(value, str)), None)


def _default_chunks_argument(function: Callable[..., Any]) -> Extractor | None:
    """Where the documents are passed in: `def generate(question, documents)`."""
    parameters = parameters_of(function)
    chosen = next((name for name in _PASSED_IN if name in parameters), None)
    return None if chosen is None else argument(function, chosen)
