"""Objects that an application passes to `instrument()`, besides the settings."""

from __future__ import annotations

from collections.abc import Iterable

from rag_otel.errors import ConfigurationError
from rag_otel.lazy_dataclass import dataclass
from rag_otel.protocols import Evaluator, Sampler, Writer


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What an application made itself."""

    evaluators: tuple[Evaluator, ...] = ()
    """Beside the metrics that the settings name."""
    writers: tuple[Writer, ...] = ()
    """Beside Phoenix annotations and evaluation spans."""
    sampler: Sampler | None = None
    """In place of the one that the settings describe."""

    def __post_init__(self) -> None:
        """Raises ConfigurationError where an object is not what its place takes."""
        require_kind("evaluators", self.evaluators, Evaluator)
        require_kind("writers", self.writers, Writer)


def require_kind(place: str, given: object, kind: type[object]) -> None:
    """Raises ConfigurationError where something given is no object of this kind."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ConfigurationError(f"{place} must be a list of objects, not {given!r}")
    for each in given:
        if isinstance(each, type) or not isinstance(each, kind):
            methods = sorted(name for name in vars(kind) if not name.startswith("_"))
            raise ConfigurationError(f"{place}: {each!r} is no object with {', '.join(methods)}")
