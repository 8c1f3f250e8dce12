"""Data classes with methods that are compiled late behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from rag_otel.lazy_dataclass import compile_methods, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Ours:
    """Slots."""

    name: str
    parts: tuple[str, ...] = ()
    tags: dict[str, str] = dataclasses.field(default_factory=dict, compare=False)
    secret: str = dataclasses.field(default="", repr=False)

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("no name")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    """Slots."""

    name: str
    parts: tuple[str, ...] = ()
    tags: dict[str, str] = dataclasses.field(default_factory=dict, compare=False)
    secret: str = dataclasses.field(default="", repr=False)


@dataclass(slots=True)
class Open:
    count: int
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Below(Ours):
    more: int = 0


def tried(act: Callable[[Any], object]) -> list[str]:
    """What an action does to an object of each kind, as text."""
    found = []
    for kind in (Ours, Standard):
        try:
            said = repr(act(kind))
        except Exception as error:  # noqa: BLE001 - whatever it is, the other kind raises the same
            said = f"{type(error).__name__}: {error}"
        found.append(said.replace(kind.__name__, "X"))
    return found


@pytest.mark.parametrize(
    "act",
    [
        lambda kind: kind(name="a", parts=("b",), secret="s"),
        lambda kind: kind(),
        lambda kind: kind("a"),
        lambda kind: kind(name="a", other=1),
        lambda kind: setattr(kind(name="a"), "name", "b"),
        lambda kind: delattr(kind(name="a"), "name"),
        lambda kind: (kind(name="a") == kind(name="a", tags={"b": "c"}), kind(name="a") == kind(name="b")),
        lambda kind: kind(name="a") == "a",
        lambda kind: hash(kind(name="a")) == hash(kind(name="a")),
        lambda kind: dataclasses.replace(kind(name="a"), name="b"),
        lambda kind: dataclasses.asdict(kind(name="a", tags={"b": "c"})),
        lambda kind: [(each.name, each.kw_only) for each in dataclasses.fields(kind)],
        lambda kind: pickle.loads(pickle.dumps(kind(name="a", parts=("b",)))),
        lambda kind: copy.deepcopy(kind(name="a", tags={"b": "c"})),
        lambda kind: (kind.__slots__, kind.__match_args__),
    ],
)
def test_it_does_what_the_standard_decorator_does(act: Callable[[Any], object]) -> None:
    ours, standard = tried(act)
    assert ours == standard


def test_post_init_refuses() -> None:
    with pytest.raises(ValueError, match="no name"):
        Ours(name="")


def test_open_classes_can_be_changed_and_have_no_hash() -> None:
    made = Open(1, name="a")
    made.count = 2
    assert made == Open(2, "a")
    assert made != Open(2, "b")
    with pytest.raises(TypeError, match="unhashable"):
        hash(made)


def test_what_is_compiled_ahead_is_not_compiled_again() -> None:
    @dataclass(frozen=True)
    class Point:
        at: int = 0

    late = Point.__init__
    compile_methods(Point, Open)
    assert Point.__init__ is not late
    assert not hasattr(Point.__init__, "compile_now")
    compiled = Point.__init__
    assert {Point(1), Point(1)} == {Point(1)}
    assert Point.__init__ is compiled


def test_a_class_below_another_inherits_its_fields() -> None:
    assert repr(Below(name="a", more=1)) == "Below(name='a', parts=(), tags={}, more=1)"
    with pytest.raises(dataclasses.FrozenInstanceError):
        Below(name="a").more = 2  # type: ignore[misc]
