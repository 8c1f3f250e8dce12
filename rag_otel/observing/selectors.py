"""Selectors: where in a call the question, the chunks or the response stand.

    @observe(question="request.query", chunks="result.hits[*].passage", response=lambda result: result.text)

A selector is a path or a callable. A path starts at a root (a parameter's name, or `result`, which is what the call
returns) and goes on by `.name` (a key of a mapping, or an attribute), `[0]` (an item) or `[*]` (every item). A
callable takes any of the roots by name; one with a single parameter of another name gets the result.

What can be checked is checked while decorating: the syntax, the roots, a callable's parameters, and field names where
annotations tell them for certain. A path that leads nowhere in one call gives None for that call.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from rag_otel.errors import SelectorError
from rag_otel.formats.paths import Step, steps_in
from rag_otel.lazy_dataclass import dataclass
from rag_otel.observing.allowance import Allowance
from rag_otel.safety.guard import counters, logger

Selector: TypeAlias = str | Callable[..., Any]
Arguments: TypeAlias = tuple[tuple[Any, ...], Mapping[str, Any]]
"""Positional and keyword arguments, as the call was written."""

RESULT: Final = "result"
_ROOT: Final = re.compile(r"[A-Za-z_]\w*")
_OF_MAPPINGS: Final = frozenset(dir(Mapping))
_NAMED: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extractor:
    """A selector, made ready for one function."""

    read: Callable[[Arguments, Any], Any]
    """(arguments, result) -> value; None where it leads nowhere. Never raises."""
    needs_result: bool
    """False: can be read before the function runs."""


def compile_selector(role: str, selector: Selector, function: Callable[..., Any]) -> Extractor:
    """Make `selector` ready for `function`.

    `role` is the argument of `@observe` that it was given for. Raises SelectorError, which names what exists, when
    the selector cannot match.
    """
    if isinstance(selector, str):
        return _compile_path(role, selector, function)
    if callable(selector):
        return _compile_callable(role, selector, function)
    raise SelectorError(
        f"@observe({role}={selector!r}) on {_called(function)}: a selector is a path such as 'result.answer' "
        f"or a callable, not {type(selector).__name__}; {_existing(function)}"
    )


def parameters_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters that a selector can name, in order; empty where the signature cannot be told (some builtins)."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def argument(function: Callable[..., Any], name: str) -> Extractor:
    """The parameter `name` of a call, without binding the whole signature (a few 100 ns)."""
    parameters = parameters_of(function)
    parameter = parameters[name]
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        taken = {other.name for other in parameters.values() if other.kind in _NAMED}
        return Extractor(
            read=lambda call, result: {key: value for key, value in call[1].items() if key not in taken},
            needs_result=False,
        )
    position = None
    if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
        position = list(parameters).index(name)
    if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
        return Extractor(read=lambda call, result: call[0][position:], needs_result=False)
    default = None if parameter.default is inspect.Parameter.empty else parameter.default

    def read(call: Arguments, result: Any) -> Any:
        args, kwargs = call
        if position is not None and position < len(args):
            return args[position]
        return kwargs.get(name, default)

    return Extractor(read=read, needs_result=False)


def _compile_path(role: str, path: str, function: Callable[..., Any]) -> Extractor:
    root, steps = _parse(role, path, function)
    parameters = parameters_of(function)
    if root != RESULT and root not in parameters:
        raise SelectorError(
            f"@observe({role}={path!r}) on {_called(function)}: there is no {root!r}; {_existing(function)}"
        )
    _check_fields(role, path, root, steps, function)
    if root == RESULT:
        return Extractor(read=lambda call, result: follow(result, steps), needs_result=True)
    read = argument(function, root).read
    return Extractor(read=lambda call, result: follow(read(call, result), steps), needs_result=False)


def _parse(role: str, path: str, function: Callable[..., Any]) -> tuple[str, tuple[Step, ...]]:
    path = path.strip()
    root = _ROOT.match(path)
    steps, at = ((), 0) if root is None else steps_in(path, root.end())
    if root is None or at < len(path):
        raise SelectorError(
            f"@observe({role}={path!r}) on {_called(function)}: cannot be read from {path[at:]!r} on; a path is a "
            f"root and then .name, [0] or [*], as in 'result.documents[*].text'; {_existing(function)}"
        )
    return root.group(), steps


def follow(value: Any, steps: Sequence[Step], allowance: Allowance | None = None) -> Any:
    """What the steps lead to; None where they lead nowhere. After `[*]` it is a list, without the items that lack
    what follows. Raises TooLargeError beyond what the `allowance`, a fresh one by default, lets one look at."""
    for at, step in enumerate(steps):
        if value is None:
            return None
        if step is None:
            if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
                return None
            rest = steps[at + 1 :]
            if not rest:
                return value
            allowance = Allowance() if allowance is None else allowance
            allowance.look_at(len(value))
            return [found for item in value if (found := follow(item, rest, allowance)) is not None]
        value = _item(value, step) if isinstance(step, int) else _named(value, step)
    return value


def _named(value: Any, name: str) -> Any:
    if type(value) is dict:
        return value.get(name)
    try:
        if isinstance(value, Mapping) and ((found := value.get(name)) is not None or name in _OF_MAPPINGS):
            return found
        return getattr(value, name, None)  # of a mapping too: a Starlette request is one, and has `query_params`
    except Exception:  # noqa: BLE001 - somebody else's property
        return None


def _item(value: Any, index: int) -> Any:
    try:
        return value[index]
    except (TypeError, LookupError):
        return None


def _compile_callable(role: str, selector: Callable[..., Any], function: Callable[..., Any]) -> Extractor:
    roots = [*parameters_of(function), RESULT]
    wanted = _wanted(selector)
    if wanted is None or (len(wanted) == 1 and wanted[0] not in roots):
        if role not in ("chunks", "response"):
            raise SelectorError(
                f"@observe({role}=...) on {_called(function)}: the callable's parameters must be named after what it "
                f"needs; {_existing(function)}"
            )
        return Extractor(read=_reporting(role, function, lambda call, result: selector(result)), needs_result=True)
    missing = [name for name in wanted if name not in roots]
    if missing:
        raise SelectorError(
            f"@observe({role}=...) on {_called(function)}: the callable asks for {', '.join(map(repr, missing))}; "
            f"{_existing(function)}"
        )
    readers = {name: argument(function, name).read for name in wanted if name != RESULT}

    def read(call: Arguments, result: Any) -> Any:
        given = {name: reader(call, result) for name, reader in readers.items()}
        return selector(**given, result=result) if RESULT in wanted else selector(**given)

    return Extractor(read=_reporting(role, function, read), needs_result=RESULT in wanted)


def _wanted(selector: Callable[..., Any]) -> list[str] | None:
    """Names of the callable's parameters without defaults; None where they cannot be told or have no names."""
    try:
        parameters = inspect.signature(selector).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind not in _NAMED for parameter in parameters):
        return None
    return [parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty]


def _reporting(
    role: str, function: Callable[..., Any], read: Callable[[Arguments, Any], Any]
) -> Callable[[Arguments, Any], Any]:
    """A callable of the application's may fail: that call goes on without the value, counted, logged once."""

    def safely(call: Arguments, result: Any) -> Any:
        try:
            return read(call, result)
        except Exception:  # noqa: BLE001 - the application's own code
            if counters.add(f"observe.selector_failed.{role}") == 1:
                logger.warning(
                    "rag-otel: the selector %s of %s failed; the call goes on without it",
                    role,
                    _called(function),
                    exc_info=True,
                )
            return None

    return safely


def _called(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", None) or type(function).__name__


def _existing(function: Callable[..., Any]) -> str:
    return f"there are: {', '.join([*parameters_of(function), RESULT])}"


# --- what annotations tell ------------------------------------------------------------------------------------------


def annotations_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Parameter name, or `return`, -> annotation; empty where they cannot be resolved."""
    try:
        return typing.get_type_hints(function)
    except Exception:  # noqa: BLE001 - names that only a type checker can resolve
        return {}


def fields_of(annotation: Any) -> dict[str, Any] | None:
    """Field -> annotation of a dataclass, a NamedTuple, a TypedDict or a pydantic model that takes no other fields.
    None for anything else, which may have more than it tells."""
    if not isinstance(annotation, type):
        return None
    model_fields = getattr(annotation, "model_fields", None)
    if isinstance(model_fields, dict):  # pydantic
        config = getattr(annotation, "model_config", {})
        if config.get("extra") == "allow" or "__getattr__" in vars(annotation):
            return None
        return {name: field.annotation for name, field in model_fields.items()}
    is_record = dataclasses.is_dataclass(annotation) or hasattr(annotation, "_fields")
    if (is_record and not hasattr(annotation, "__getattr__")) or typing.is_typeddict(annotation):
        hints = typing.get_type_hints(annotation)
        return {name: hint for name, hint in hints.items() if typing.get_origin(hint) is not typing.ClassVar}
    return None


def _check_fields(role: str, path: str, root: str, steps: Sequence[Step], function: Callable[..., Any]) -> None:
    """Follow a path along the annotations. Raises SelectorError at the first name that cannot match."""
    annotation = annotations_of(function).get("return" if root == RESULT else root)
    for step in steps:
        annotation = _unwrapped(annotation)
        if not isinstance(step, str):
            annotation = _item_type(annotation)
            continue
        if (fields := fields_of(annotation)) is None:
            return
        if step not in fields and not hasattr(annotation, step):
            raise SelectorError(
                f"@observe({role}={path!r}) on {_called(function)}: {annotation.__name__} has no field {step!r}; "
                f"it has: {', '.join(fields) or 'none'}"
            )
        annotation = fields.get(step)


def _unwrapped(annotation: Any) -> Any:
    """Without Optional and without the coroutine around a result; a union of several says nothing certain."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        real = [argument for argument in arguments if argument is not type(None)]
        return _unwrapped(real[0]) if len(real) == 1 else None
    if origin in (collections.abc.Awaitable, collections.abc.Coroutine):
        return _unwrapped(arguments[-1])
    return annotation


def _item_type(annotation: Any) -> Any:
    """What a list, tuple, sequence or iterable of one type holds."""
    arguments = typing.get_args(annotation)
    if typing.get_origin(annotation) not in (list, tuple, collections.abc.Sequence, collections.abc.Iterable):
        return None
    return arguments[0] if arguments and len(set(arguments) - {Ellipsis}) == 1 else None
