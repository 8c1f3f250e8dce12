"""The limit of evaluations per minute."""

from __future__ import annotations

import os

import pytest

from rag_otel.errors import ConfigurationError
from rag_otel.sampling.amount import EvaluationCap


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_no_more_than_the_cap_in_any_minute() -> None:
    """In ten minutes of steady demand, exactly the limit plus the burst is admitted."""
    clock = _Clock()
    cap = EvaluationCap(60, burst=10, clock=clock)
    admitted = 0
    for second in range(601):
        clock.now = float(second)
        admitted += sum(cap.admit() for _ in range(20))
    assert admitted == 10 + 600


def test_asking_whether_it_is_empty_takes_nothing() -> None:
    """The request path checks the limit before it reads a trace. Only an evaluation takes a token."""
    cap = EvaluationCap(1, burst=1, clock=_Clock())
    assert not cap.is_empty()
    assert not cap.is_empty()
    assert cap.admit()
    assert cap.is_empty()
    assert not cap.admit()


def test_a_forked_child_has_a_limit_of_its_own() -> None:
    """It has evaluated nothing so far, whatever the parent has."""
    cap = EvaluationCap(1, burst=1)
    assert cap.admit()
    child = os.fork()
    if child == 0:
        os._exit(0 if not cap.is_empty() and cap.admit() and cap.is_empty() else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert cap.is_empty()


def test_the_bucket_never_holds_more_than_the_burst() -> None:
    """After an hour without traffic, no more than the burst is admitted at once."""
    clock = _Clock()
    cap = EvaluationCap(600, burst=5, clock=clock)
    clock.now = 3600.0
    assert sum(cap.admit() for _ in range(100)) == 5


def test_a_cap_of_zero_is_refused() -> None:
    """Zero evaluations per minute raises an error that names the remedy."""
    with pytest.raises(ConfigurationError, match="sample_ratio=0"):
        EvaluationCap(0)
