"""Imports that are made when a test runs, not when tests are collected: torch and litellm take seconds each.

Every worker of pytest collects all tests, but few run those that need such a library.
"""

from __future__ import annotations

import importlib
from functools import cached_property
from typing import Any


class WhenUsed:
    """Stands for a module, or for a name of one, and imports it when it is called or asked for an attribute."""

    def __init__(self, module: str, name: str | None = None) -> None:
        """`module` is imported at first use; `name` is a function or class in it."""
        self._module = module
        self._name = name
        self.__name__ = name or module

    @cached_property
    def _real(self) -> Any:
        module = importlib.import_module(self._module)
        return module if self._name is None else getattr(module, self._name)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._real(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what pytest looks for while it collects
            raise AttributeError(name)
        return getattr(self._real, name)


llm_model = WhenUsed("rag_otel_evaluators.judges.llm", "llm_model")
llm_embedder = WhenUsed("rag_otel_evaluators.judges.llm", "llm_embedder")
warm_up = WhenUsed("rag_otel_evaluators.judges.litellm_library", "warm_up")
"""Loads all of litellm, for tests in which the first answer must not take longer than any other."""
