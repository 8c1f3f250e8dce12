"""The pytest plugin: the fixture `assert_faithful` and the marker `faithful`. Installed with the package.

    @pytest.mark.faithful(threshold=0.8)
    def test_my_answer(assert_faithful):
        answer = my_app("How high is the tower?")
        assert_faithful("How high is the tower?", answer.chunks, answer.text)

The defaults come from the marker, else from the command line (`--rag-otel-judge`, `--rag-otel-threshold`), else from
the ini options `rag_otel_judge` and `rag_otel_threshold`. Every pytest run of an environment imports this module, so it
imports nothing of ours before a test uses the fixture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rag_otel.model import Chunk, Evaluation
    from rag_otel.protocols import Evaluator

_MARKER = "faithful"


class AssertFaithful(Protocol):
    """The type of the fixture. None leaves an argument at its default."""

    def __call__(
        self,
        question: str | None,
        chunks: Sequence[Chunk | str],
        response: str,
        *,
        threshold: float | None = None,
        judge: str | Mapping[str, Any] | Evaluator | None = None,
        allow_abstention: bool | None = None,
    ) -> Evaluation:
        """See `rag_otel_evaluators.assert_faithful`."""
        ...


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rag-otel")
    group.addoption("--rag-otel-judge", metavar="NAME", help="judge of assert_faithful (default: embedded)")
    group.addoption("--rag-otel-threshold", metavar="SHARE", help="lowest share of supported claims (default: 1.0)")
    parser.addini("rag_otel_judge", "judge of the fixture assert_faithful")
    parser.addini("rag_otel_threshold", "lowest share of supported claims of the fixture assert_faithful, 0..1")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", f"{_MARKER}(threshold, judge, allow_abstention): arguments of the fixture assert_faithful"
    )


@pytest.fixture
def assert_faithful(request: pytest.FixtureRequest) -> AssertFaithful:
    """Asserts that the chunks support an answer; the failure names the unsupported claims."""
    defaults = _defaults(request)

    def check(question: str | None, chunks: Sequence[Chunk | str], response: str, **arguments: Any) -> Evaluation:
        __tracebackhide__ = True
        from rag_otel_evaluators.assertions import assert_faithful as check_answer

        given = {name: value for name, value in arguments.items() if value is not None}
        return check_answer(question, chunks, response, **{**defaults, **given})

    return check


def _defaults(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The arguments that the options and the marker give. Raises pytest.UsageError for a wrong one."""
    config = request.config
    judge = config.getoption("--rag-otel-judge") or config.getini("rag_otel_judge")
    threshold = config.getoption("--rag-otel-threshold") or config.getini("rag_otel_threshold")
    found: dict[str, Any] = {"judge": judge} if judge else {}
    if threshold:
        try:
            found["threshold"] = float(threshold)
        except ValueError:
            raise pytest.UsageError(f"rag_otel_threshold: {threshold!r} is not a number in 0..1") from None
    marker = request.node.get_closest_marker(_MARKER)
    if marker is not None:
        unknown = marker.kwargs.keys() - {"threshold", "judge", "allow_abstention"}
        if unknown or marker.args:
            raise pytest.UsageError(
                f"@pytest.mark.{_MARKER}: give threshold=, judge= or allow_abstention=, "
                f"not {', '.join([*map(repr, marker.args), *sorted(unknown)])}"
            )
        found |= marker.kwargs
    return found
