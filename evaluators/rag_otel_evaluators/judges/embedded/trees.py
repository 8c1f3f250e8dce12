"""A line and small decision trees, added up: the log-odds that a claim of a short answer is unsupported.

A difference between a claim and its evidence means one thing where the rest of the sentence agrees and another where it
does not. A sum of weights cannot tell the two apart, a tree can. What few examples show, a sum of weights knows better:
with trees alone "All users can export" was supported by "Some users can export".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Union

from rag_otel.errors import InputError
from rag_otel.lazy_dataclass import dataclass

Tree = Union[float, tuple[int, float, "Tree", "Tree"]]  # noqa: UP007  # a type that names itself
"""A value, or (number of a feature, threshold, the tree where the feature is below it, the tree where it is not)."""

_SPLIT: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """A line and decision trees over a vector of features."""

    weights: tuple[float, ...]
    """By feature: of a line that the trees begin with, which knows what is too rare for a tree."""
    trees: tuple[Tree, ...]
    intercept: float

    def at(self, features: Sequence[float]) -> float:
        """The log-odds: those of the line, and a value from each tree."""
        total = self.intercept
        for weight, value in zip(self.weights, features, strict=True):
            total += weight * value
        for tree in self.trees:
            while type(tree) is tuple:
                number, threshold, below, from_there = tree
                tree = below if features[number] < threshold else from_there
            total += tree  # type: ignore[operator]  # no tuple any more
        return total

    def scaled(self, slope: float, intercept: float, digits: int) -> Trees:
        """These trees with every value times `slope`, and `intercept` added, to so many decimals."""
        return Trees(
            weights=tuple(round(weight * slope, digits) for weight in self.weights),
            trees=tuple(_scaled(tree, slope, digits) for tree in self.trees),
            intercept=round(self.intercept * slope + intercept, digits),
        )

    def as_json(self, names: Sequence[str]) -> dict[str, Any]:
        """Plain values for a file; `names` are those of the features."""
        return {
            "features": dict(zip(names, self.weights, strict=True)),
            "intercept": self.intercept,
            "trees": [_listed(tree) for tree in self.trees],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any], names: Sequence[str]) -> Trees:
        """Raises InputError where the features are not these."""
        listed = values.get("features", {})
        if tuple(listed) != tuple(names):
            raise InputError(
                f"these trees are for the features {', '.join(listed)}; this version computes "
                f"{', '.join(names)}: train again"
            )
        return cls(
            weights=tuple(map(float, listed.values())),
            trees=tuple(map(_read, values["trees"])),
            intercept=float(values["intercept"]),
        )


def _scaled(tree: Tree, slope: float, digits: int) -> Tree:
    if isinstance(tree, tuple):
        number, threshold, below, from_there = tree
        return number, threshold, _scaled(below, slope, digits), _scaled(from_there, slope, digits)
    return round(tree * slope, digits)


def _listed(tree: Tree) -> Any:
    if isinstance(tree, tuple):
        return [tree[0], tree[1], _listed(tree[2]), _listed(tree[3])]
    return tree


def _read(value: Any) -> Tree:
    if not isinstance(value, list):
        return float(value)
    if len(value) != _SPLIT:
        raise InputError(f"a split has {_SPLIT} parts, this one {len(value)}: train again")
    number, threshold, below, from_there = value
    return int(number), float(threshold), _read(below), _read(from_there)
