"""Whatever goes wrong, in whatever order: no span is lost, doubled or reordered."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ConcurrentMultiSpanProcessor, TracerProvider

from rag_otel.errors import PermanentError, RetryableError
from rag_otel.model import EvaluatedTrace
from rag_otel.processing import held_traces
from rag_otel.processing import processor as processor_module
from rag_otel.processing.attach import attach
from testkit.size import examples
from tests.processing.kit import Bench, Direct, Exported, batching, chain, observed, retrieve, tracer

TEXT = "The moon orbits the earth once a month."


class Faulty:
    """A writer that fails as it is told."""

    name = "faulty"

    def __init__(self) -> None:
        self.error: Exception | None = None

    def write(self, batch: Sequence[EvaluatedTrace]) -> None:
        if self.error is not None:
            raise self.error


class World:
    """An application, what it has ended so far, and everything that can go wrong around it."""

    def __init__(self, *, hold: float, concurrent: bool) -> None:
        self.faulty = Faulty()
        self.bench = Bench(settings={"hold": hold}, writers=[self.faulty])
        multi = ConcurrentMultiSpanProcessor(2) if concurrent else None
        self.provider = TracerProvider(active_span_processor=multi, shutdown_on_exit=False)
        self.exporters = [Exported(), Exported()]
        self.provider.add_span_processor(Direct(self.exporters[0]))
        self.provider.add_span_processor(batching(self.exporters[1]))
        self.attachment = attach(self.provider, self.bench.runtime)
        self.ended: list[str] = []
        self.targets: set[str] = set()

    def name(self, kind: str, *, target: bool = False) -> str:
        """A new span's name."""
        name = f"{kind} {len(self.ended)}"
        self.ended.append(name)
        if target:
            self.targets.add(name)
        return name

    def call(self) -> None:
        with observed(self.provider, "x") as span:
            self.step()
            span.update_name(self.name("call", target=True))

    def retrieving_call(self) -> None:
        with chain(self.provider) as span:
            retrieve(self.provider, TEXT, name=self.name("retrieve"))
            self.step()
            span.update_name(self.name("chain", target=True))

    def nested_call(self) -> None:
        with observed(self.provider, "x", chunks=None) as span:
            self.call()
            self.step()
            span.update_name(self.name("outer"))

    def step(self) -> None:
        with tracer(self.provider).start_as_current_span(self.name("step")):
            pass

    def failing_call(self) -> None:
        with observed(self.provider, "x", failed=True) as span:
            span.update_name(self.name("failed", target=True))

    def judge_works(self) -> None:
        self.bench.judge.error = None
        self.bench.judge.gate.set()
        self.bench.judge.block.set()

    def judge_raises(self) -> None:
        self.bench.judge.error = ValueError("judge")

    def judge_exits(self) -> None:
        self.bench.judge.error = SystemExit(1)

    def judge_waits(self) -> None:
        self.bench.judge.gate.clear()

    def judge_blocks(self) -> None:
        self.bench.judge.block.clear()

    def delivery_retries(self) -> None:
        self.faulty.error = RetryableError("down")

    def delivery_fails(self) -> None:
        self.faulty.error = PermanentError("no")

    def flush(self) -> None:
        self.provider.force_flush(20)

    def flush_at_once(self) -> None:
        self.attachment.flush(5, evaluate=False)

    def attach_again(self) -> None:
        self.attachment.detach(0.02)
        self.attachment = attach(self.provider, self.bench.runtime)

    def fork(self) -> None:
        """The child makes one call and shuts down: it exports that call and nothing of the parent's."""
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                self.judge_works()
                before = len(self.exporters[0].spans)
                with observed(self.provider, "of the child"):
                    pass
                self.provider.shutdown()
                os.write(writer, json.dumps(self.exporters[0].names()[before:]).encode())
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            told = json.load(pipe)
        os.waitpid(pid, 0)
        assert told == ["of the child"]

    def end(self) -> None:
        """Shut down in the midst of whatever is going on."""
        self.provider.shutdown()
        self.judge_works()
        self.bench.runtime.close(1)


ACTIONS = [name for name, value in vars(World).items() if callable(value) and name not in ("__init__", "name", "end")]


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    actions=st.lists(st.sampled_from([*ACTIONS, *["call", "retrieving_call", "nested_call"] * 3]), max_size=25),
    hold=st.sampled_from([0.0, 0.001, 0.02, 10.0]),
    max_held=st.sampled_from([1, 3, 100]),
    concurrent=st.booleans(),
)
def test_no_span_is_lost_doubled_or_reordered(actions: list[str], hold: float, max_held: int, concurrent: bool) -> None:
    """Every span that ended is exported exactly once by every exporter; those that are not held in their order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processor_module, "SHUTDOWN_S", 0.1)
        patch.setattr(held_traces, "MAX_HELD", max_held)
        world: Any = World(hold=hold, concurrent=concurrent)
        for action in actions:
            getattr(world, action)()
        world.end()
        for exporter in world.exporters:
            names = exporter.names()
            assert sorted(names) == sorted(world.ended)
            passed = [name for name in names if name not in world.targets]
            assert passed == [name for name in world.ended if name not in world.targets]
