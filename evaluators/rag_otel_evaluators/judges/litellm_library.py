"""litellm as a library: the one module that imports it, what every call of it carries, and its errors as ours.

litellm is heavy (seconds, well over 100 MB), so it is imported by who configures a judge, at start-up, and never while
traffic flows; `warm_up` loads what litellm leaves for its first call.

It is a library that the application may use too, so its global settings are left alone (but for one, that it prints no
advice when a call fails): each call says for itself that it is not logged, cached or retried there. That calls are not
traced is the caller's affair: this package knows nothing of tracing.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import socket
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from rag_otel.delivery.retry import retry_after_of
from rag_otel.errors import ConfigurationError
from rag_otel.safety.echoes import without_echoes
from rag_otel_evaluators.llm.failures import CallError, FailureKind, kind_of_status
from rag_otel_evaluators.llm.quiet import quiet
from rag_otel_evaluators.llm.reported_usage import Price, fixed_price

# The prices that litellm brings, not those it would fetch from the network while being imported.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about litellm's own classes, of no use to an application
        import aiohttp
        import httpx
        import litellm as litellm
        import openai
except ImportError as error:
    raise ConfigurationError(
        f"an LLM judge needs litellm ({error}); install it with: pip install 'rag-otel[llm]'"
    ) from None

litellm.suppress_debug_info = True  # else a judge's failed call prints advice to the application's stdout

_internal_call: contextvars.ContextVar[bool]
"""litellm's mark for calls that are not its users' own: nothing is queued for its logging worker."""
try:
    from litellm import _internal_context
except ImportError:  # private, and may go: the calls' "no-log" remains
    _internal_call = contextvars.ContextVar("rag_otel_internal_call", default=False)
else:
    _internal_call = _internal_context.is_internal_call

_MESSAGE_LENGTH: Final = 300
"""Characters kept of a provider's error message."""
_ONE_TARIFF: Final = 100_000
"""Input tokens up to which no provider charges more for a token because there are many."""
_PER_CALL: Final[Mapping[str, Any]] = {
    "num_retries": 0,  # retries are ours: they honour Retry-After, the breaker and the deadline
    "max_retries": 0,
    "drop_params": True,  # a model without `temperature` is asked without it
    "no-log": True,  # no logging callback of the application's (tracing, cost) gets a judge's call
    "cache": {"no-cache": True, "no-store": True},  # nor does its litellm cache answer for the judge
}


def token_prices(model: str) -> tuple[float, float] | None:
    """US dollars for a million tokens in and a million out, as litellm knows them; None where it does not."""
    try:
        into, out = litellm.cost_per_token(model=model, prompt_tokens=1_000_000, completion_tokens=1_000_000)
    except Exception:  # noqa: BLE001 - litellm raises bare exceptions for names that it has no price for
        return None
    return float(into), float(out)


def price_of(model: str, parameters: Mapping[str, Any]) -> Price:
    """What one call costs: at the given prices, else at those that litellm knows."""

    def asked(read: int, written: int, cached: int) -> tuple[float, float] | None:
        try:
            costs: tuple[float, float] = litellm.cost_per_token(
                model=model, prompt_tokens=read, completion_tokens=written, cache_read_input_tokens=cached
            )
        except Exception:  # noqa: BLE001 - litellm raises bare exceptions for names that it has no price for
            return None
        return costs

    if (fixed := fixed_price(parameters)) is not None:
        return fixed
    if (thousand := asked(1_000, 1_000, 0)) is None:
        return lambda read, written, cached: None
    rates = thousand[0] / 1_000, thousand[1] / 1_000

    def price(read: int, written: int, cached: int) -> float | None:
        if read <= _ONE_TARIFF and not cached:
            return read * rates[0] + written * rates[1]
        costs = asked(read, written, cached)
        return None if costs is None else sum(costs)

    return price


def call_parameters(
    model: str, api_base: str | None, api_key: str | None, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """What every call of a model carries. Raises ConfigurationError for a name of which litellm knows no provider."""
    if provider_of(model) == "openai" and api_base and not (api_key or os.environ.get("OPENAI_API_KEY")):
        api_key = "none"  # OpenAI's client insists on one, local servers do not
    return {**parameters, "model": model, "api_base": api_base, "api_key": api_key, **_PER_CALL}


def provider_of(model: str) -> str:
    """litellm's name of the provider. Raises ConfigurationError for a name of which it knows none."""
    try:
        provider: str = litellm.get_llm_provider(model)[1]
    except litellm.exceptions.BadRequestError:
        raise ConfigurationError(
            f"{model!r} names no provider that litellm knows; write provider/model, for example openai/gpt-4o-mini, "
            "or openai/<name> with api_base for a server that speaks OpenAI's protocol"
        ) from None
    return provider


def call_error(error: Exception, sent: Iterable[str]) -> CallError:
    """What litellm raised, as one of our kinds. `sent`: texts that it must not quote, even where the provider does."""
    said = str(error)
    message = " ".join(without_echoes(said, sent).split())[:_MESSAGE_LENGTH]
    headers = getattr(error, "litellm_response_headers", None)
    if isinstance(error, (litellm.exceptions.Timeout, TimeoutError)):
        return CallError(FailureKind.TIMEOUT, message)
    if isinstance(error, litellm.exceptions.BadRequestError):
        status: Any = 400
    else:
        status = getattr(error, "status_code", None)
    if _lacks_a_key(error):
        return CallError(FailureKind.AUTH, message)
    if not isinstance(status, int) or (status >= 500 and not headers):
        # litellm calls a connection that was refused or broken a 500, and an answer that it cannot read too.
        return CallError(FailureKind.UNREADABLE if _was_answered(error) else FailureKind.CONNECTION, message)
    retry_after_s = retry_after_of(headers if hasattr(headers, "get") else None)
    kind = kind_of_status(status, " ".join(said.split())[:_MESSAGE_LENGTH])
    return CallError(kind, message, retry_after_s=retry_after_s)


def _lacks_a_key(error: BaseException) -> bool:
    """Whether OpenAI's client refused to be made, which it does without a key. litellm calls that a 500."""
    return any(type(each) is openai.OpenAIError for each in _with_causes(error))


def _was_answered(error: BaseException) -> bool:
    """Whether litellm's error is about an answer that came and that it could not read. What it raises for a connection
    has the connection's error behind it; for what never left it raises APIConnectionError, among others."""
    if isinstance(error, openai.APIConnectionError) or not isinstance(error, openai.APIError):
        return False
    of_connection = (openai.APIConnectionError, httpx.TransportError, aiohttp.ClientError, OSError)
    return not any(isinstance(each, of_connection) for each in _with_causes(error))


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    """The error, and those that led to it."""
    behind: BaseException | None = error
    while behind is not None:
        yield behind
        behind = behind.__cause__ or behind.__context__


@contextlib.contextmanager
def as_internal() -> Iterator[None]:
    """What is called inside is no call of the application's, and prints nothing."""
    token = _internal_call.set(True)
    try:
        with quiet():
            yield
    finally:
        _internal_call.reset(token)


def warm_up(model: str) -> None:
    """Load now what litellm would import during its first call and its first failure (half a second of CPU).

    Makes no call to any provider: one answer is mocked, one connection is refused on the loopback interface. Blocks;
    works inside a running event loop. Tracing that is suppressed around it stays suppressed.
    """
    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(lambda: asyncio.run(_warm_up(model)),), name="rag-otel-warm-up")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        thread.start()
        thread.join()


async def _warm_up(model: str) -> None:
    with as_internal(), socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound and not listening: whoever connects is refused
        refused = {"api_base": f"http://127.0.0.1:{nobody.getsockname()[1]}", "api_key": "none", "timeout": 5.0}
        for arguments in ({"model": model, "mock_response": "{}"}, {"model": "openai/nobody", **refused}):
            with contextlib.suppress(Exception):
                await litellm.acompletion(messages=[{"role": "user", "content": "-"}], **{**_PER_CALL, **arguments})
