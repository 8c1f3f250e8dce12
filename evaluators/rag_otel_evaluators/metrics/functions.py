"""Makes any function a metric with a decorator. The function may be sync or async.

    @function_evaluator
    def brevity(response: str) -> float:
        return min(1.0, 400 / len(response))

The function gets the fields that its parameters name and returns a score. The result is an evaluator like the built-in
ones.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping
from typing import Any, overload

from rag_otel.errors import ConfigurationError
from rag_otel.model import Evaluation
from rag_otel_evaluators.metrics.metric import FIELDS, FURTHER_FIELDS, Case, Metric, scored


@overload
def function_evaluator(function: Callable[..., Any], /) -> FunctionMetric: ...
@overload
def function_evaluator(
    *, name: str | None = None, version: str = "1", lower_is_better: bool = False
) -> Callable[[Callable[..., Any]], FunctionMetric]: ...
def function_evaluator(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    version: str = "1",
    lower_is_better: bool = False,
) -> FunctionMetric | Callable[[Callable[..., Any]], FunctionMetric]:
    """Decorator that makes a sync or async function an evaluator. It may be used with or without arguments.

    The function may have the parameters `question`, `chunks` (a list of `Chunk`), `response` and `reference`, and for
    data sets `chunk_ids`, `reference_chunks` and `reference_chunk_ids` (lists of texts). It returns a score in 0..1,
    None, (score, explanation) or an `Evaluation`. A sync function runs on a thread, so it may block. `lower_is_better`:
    a low score is good (toxicity); alert rules, drift, exports and charts follow.

    Raises ConfigurationError for a function with other required parameters.
    """
    if function is None:
        return lambda decorated: FunctionMetric(decorated, name=name, version=version, lower_is_better=lower_is_better)
    return FunctionMetric(function, name=name, version=version, lower_is_better=lower_is_better)


class FunctionMetric(Metric):
    """A function as an `Evaluator`. It can still be called as before. An exception becomes a failed evaluation."""

    judge_name = "function"
    version = "1"
    caught = (Exception,)

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        version: str = "1",
        lower_is_better: bool = False,
    ) -> None:
        self.function = function
        self.lower_is_better = lower_is_better
        super().__init__(str(name or getattr(function, "__name__", "")))
        self.version = version
        self._wanted = _wanted_fields(function)
        # Missing chunks and a missing response would be passed as empty values, so a data set must have them. A missing
        # question or reference is passed as None.
        self.needs = tuple(field for field in self._wanted if field in ("chunks", "response", *FURTHER_FIELDS))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    @property
    def _evaluator(self) -> str:
        return getattr(self.function, "__qualname__", type(self.function).__qualname__)

    async def _score(self, case: Case) -> Evaluation:
        given = {
            "question": case.question,
            "chunks": list(case.given_chunks),
            "response": case.response or "",
            "reference": case.reference,
            "chunk_ids": list(case.own_ids),
            "reference_chunks": list(case.reference_chunks),
            "reference_chunk_ids": list(case.reference_chunk_ids),
        }
        returned = await self._call({field: given[field] for field in self._wanted})
        if isinstance(returned, Evaluation):
            return returned
        score, explanation = returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, "")
        return scored(self.name, score, str(explanation))

    async def _call(self, arguments: Mapping[str, Any]) -> Any:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(**arguments)
        returned = await asyncio.to_thread(self.function, **arguments)
        return await returned if inspect.isawaitable(returned) else returned


def _wanted_fields(function: Callable[..., Any]) -> tuple[str, ...]:
    """Which of `FIELDS` the function takes. All of them if it has `**kwargs`."""
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return FIELDS
    unknown = [
        parameter.name
        for parameter in parameters
        if parameter.name not in (*FIELDS, *FURTHER_FIELDS)
        and parameter.default is parameter.empty
        and parameter.kind is not parameter.VAR_POSITIONAL
    ]
    positional = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_ONLY]
    if unknown or positional:
        raise ConfigurationError(
            f"{getattr(function, '__qualname__', function)}: cannot pass {', '.join(unknown or positional)}; "
            f"an evaluator may have the keyword parameters {', '.join(FIELDS)}"
        )
    named = inspect.signature(function).parameters
    return tuple(field for field in (*FIELDS, *FURTHER_FIELDS) if field in named)
