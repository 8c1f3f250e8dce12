"""`dataclass` as the standard library has it, whose methods are compiled when they are first used.

    from rag_otel.lazy_dataclass import dataclass

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Chunk: ...

The standard decorator writes five or six methods for each class and compiles each of them while the module is imported.
That was a third of what `instrument()` took, mostly for methods that no process ever calls. Here the methods are the
same, compiled by the same library, with the first object, comparison or text. A class that inherits from another
dataclass is left to the standard decorator.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, **options):
        """`dataclasses.dataclass`, with the options `frozen`, `slots`, `kw_only`, `eq` and `repr`."""
        return (lambda made: _lazy(made, options)) if cls is None else _lazy(cls, options)


__all__ = ["compile_methods", "dataclass"]

_NOTHING: Final = {"init": False, "repr": False, "eq": False}


def compile_methods(*classes: type[Any]) -> None:
    """Compile now, on a thread that nobody waits for, what else the first caller would wait for: a millisecond each."""
    for cls in classes:
        for name in ("__init__", "__eq__", "__hash__"):
            compile_now = getattr(cls.__dict__.get(name), "compile_now", None)
            if compile_now is not None:
                compile_now()


def _lazy(cls: type[Any], options: dict[str, bool]) -> type[Any]:
    if any(dataclasses.is_dataclass(base) for base in cls.__bases__):
        return dataclasses.dataclass(**options)(cls)
    frozen, eq = options.get("frozen", False), options.get("eq", True)
    # Frozen by hand, further down: the library would compile two methods for it.
    made: Any = dataclasses.dataclass(**{**options, **_NOTHING, "frozen": False})(cls)
    for name, value in {"init": True, "repr": True, "eq": True, **options}.items():
        if hasattr(made.__dataclass_params__, name):
            setattr(made.__dataclass_params__, name, value)
    wanted = {"__init__": "init"}
    if options.get("repr", True):
        wanted["__repr__"] = "repr"
    if eq:
        wanted["__eq__"] = "eq"
        if frozen:
            wanted["__hash__"] = "eq"
        elif "__hash__" not in cls.__dict__ or cls.__dict__["__hash__"] is None:
            made.__hash__ = None
    for name, option in wanted.items():
        if name not in cls.__dict__ or cls.__dict__[name] is None:
            setattr(made, name, _stub(made, name, option, options))
    if frozen:
        _freeze(made)
        if options.get("slots", False):
            made.__getstate__, made.__setstate__ = _getstate, _setstate
    return made  # type: ignore[no-any-return]


def _stub(made: Any, name: str, option: str, options: dict[str, bool]) -> Any:
    """A method that replaces itself by what the library compiles, and calls that."""

    def compile_now() -> Any:
        setattr(made, name, compiled := _compiled(made, name, option, options))
        return compiled

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return compile_now()(self, *args, **kwargs)

    method.__name__, method.__qualname__ = name, f"{made.__qualname__}.{name}"
    method.compile_now = compile_now  # type: ignore[attr-defined]
    return method


def _compiled(made: Any, name: str, option: str, options: dict[str, bool]) -> Any:
    """The method `name` of a class with the same fields."""
    same: dict[str, Any] = {"__annotations__": made.__annotations__, "__module__": made.__module__}
    same |= made.__dataclass_fields__
    if hasattr(made, "__post_init__"):
        same["__post_init__"] = made.__post_init__
    twin: Any = dataclasses.dataclass(**{**options, **_NOTHING, "slots": False, option: True})(
        type(made.__name__, (), same)
    )
    method = twin.__dict__[name]
    method.__qualname__ = f"{made.__qualname__}.{name}"
    return method


def _freeze(made: Any) -> None:
    fields = made.__dataclass_fields__

    def refuse_to_set(self: Any, name: str, value: Any) -> None:
        if type(self) is made or name in fields:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(made, self).__setattr__(name, value)

    def refuse_to_delete(self: Any, name: str) -> None:
        if type(self) is made or name in fields:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(made, self).__delattr__(name)

    made.__setattr__, made.__delattr__ = refuse_to_set, refuse_to_delete


def _getstate(self: Any) -> list[Any]:
    """For pickle and copy, which else would set attributes."""
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)
