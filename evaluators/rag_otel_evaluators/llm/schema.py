"""A pydantic model as the JSON schema that providers of structured output accept."""

from __future__ import annotations

import functools
import json
from typing import Any, Final

from pydantic import BaseModel

_LEFT_OUT: Final = frozenset({"default", "title"})
_NAMED: Final = frozenset({"properties", "$defs"})


@functools.cache
def response_schema(response_model: type[BaseModel]) -> dict[str, Any]:
    """The strict form: no property but the named ones, all of them required, no defaults. Do not change it.

    Source: the rules of OpenAI's structured outputs, which vLLM, llama.cpp and others follow.
    """
    schema: dict[str, Any] = _strict(response_model.model_json_schema())
    return schema


def schema_instruction(response_model: type[BaseModel]) -> str:
    """The schema in words, for models that cannot be held to it."""
    schema = json.dumps(response_schema(response_model), ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object that conforms to this JSON schema, and with nothing else:\n{schema}"


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:  # siblings of a reference are refused, but a model that holds itself is a reference at the root
        node = {key: value for key, value in node.items() if key in ("$ref", "$defs")}
    # Titles repeat the names and cost tokens.
    strict = {key: _strict(value) for key, value in node.items() if key not in _LEFT_OUT}
    for names in _NAMED & set(node):  # here the keys are names, not keywords
        strict[names] = {name: _strict(value) for name, value in node[names].items()}
    if node.get("type") == "object" and "properties" in node:
        strict["additionalProperties"] = False
        strict["required"] = list(node["properties"])
    return strict
