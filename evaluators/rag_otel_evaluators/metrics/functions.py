"""Any function as a metric: sync or async, by decoration.

    @function_evaluator
    def brevity(response: str) -> float:
        return min(1.0, 400 / len(response))

It takes what it names and returns a score, and is an evaluator like the built-in ones.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from rag_otel.errors import ConfigurationError
from rag_otel.evaluation.evaluate import failed_evaluation
from rag_otel.model import Chunk, Evaluation
from rag_otel.semconv import check_metric_name
from rag_otel_evaluators.metrics.inputs import FIELDS, as_chunks
from rag_otel_evaluators.metrics.outcomes import scored
from rag_otel_evaluators.sync import SyncTwin


@overload
def function_evaluator(function: Callable[..., Any], /) -> FunctionMetric: ...
@overload
def function_evaluator(
    *, name: str | None = None, version: str = "1"
) -> Callable[[Callable[..., Any]], FunctionMetric]: ...
def function_evaluator(
    function: Callable[..., Any] | None = None, /, *, name: str | None = None, version: str = "1"
) -> FunctionMetric | Callable[[Callable[..., Any]], FunctionMetric]:
    """Make a sync or async function an evaluator, by decoration, bare or with a name and a version.

    The function takes any of `question`, `chunks` (a list of `Chunk`), `response`, `reference` by name and returns a
    score in 0..1, None, (score, explanation) or a whole `Evaluation`. A sync one runs on a thread: it may block.

    Raises ConfigurationError for a function that wants anything else.
    """
    if function is None:
        return lambda decorated: FunctionMetric(decorated, name=name, version=version)
    return FunctionMetric(function, name=name, version=version)


class FunctionMetric(SyncTwin):
    """A function as an `Evaluator`; itself still callable as before. What it raises is a failed evaluation."""

    judge_name = "function"

    def __init__(self, function: Callable[..., Any], *, name: str | None = None, version: str = "1") -> None:
        self.function = function
        self.name = check_metric_name(str(name or getattr(function, "__name__", "")))
        self.version = version
        self._wanted = _wanted_fields(function)
        # A question and a reference may be None; chunks and a response that are not there would read as empty ones.
        self.needs = tuple(field for field in self._wanted if field in ("chunks", "response"))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    async def evaluate(
        self, *, question: str | None, chunks: Sequence[Chunk | str], response: str, reference: str | None = None
    ) -> Evaluation:
        started = time.perf_counter()
        given = {
            "question": question,
            "chunks": as_chunks(chunks),
            "response": response,
            "reference": reference,
        }
        try:
            returned = await self._call({field: given[field] for field in self._wanted})
            result = self._as_evaluation(returned)
        except Exception as error:  # noqa: BLE001 - the user's function may fail in any way
            result = failed_evaluation(self.name, error)
        return dataclasses.replace(
            result,
            name=self.name,
            evaluator=getattr(self.function, "__qualname__", type(self.function).__qualname__),
            version=self.version,
            judge=result.judge or self.judge_name,
            duration_s=time.perf_counter() - started,
        )

    async def _call(self, arguments: Mapping[str, Any]) -> Any:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(**arguments)
        returned = await asyncio.to_thread(self.function, **arguments)
        return await returned if inspect.isawaitable(returned) else returned

    def _as_evaluation(self, returned: Any) -> Evaluation:
        if isinstance(returned, Evaluation):
            return returned
        if isinstance(returned, tuple) and len(returned) == 2:
            return scored(self.name, returned[0], str(returned[1]))
        return scored(self.name, returned, "")


def _wanted_fields(function: Callable[..., Any]) -> tuple[str, ...]:
    """Which of `FIELDS` to hand over; all of them to a function with `**kwargs`."""
    parameters = inspect.signature(function).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return FIELDS
    unknown = [
        parameter.name
        for parameter in parameters
        if parameter.name not in FIELDS
        and parameter.default is parameter.empty
        and parameter.kind is not parameter.VAR_POSITIONAL
    ]
    positional = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_ONLY]
    if unknown or positional:
        raise ConfigurationError(
            f"{getattr(function, '__qualname__', function)}: cannot give it {', '.join(unknown or positional)}; "
            f"an evaluator takes any of {', '.join(FIELDS)}, by name"
        )
    return tuple(field for field in FIELDS if field in inspect.signature(function).parameters)
