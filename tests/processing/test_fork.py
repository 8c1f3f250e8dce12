"""Fork and spawn: the parent keeps its slots, the child starts with none, nothing leaves twice."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator

import pytest

from testkit.http_receiver import Receiver, http_receiver
from testkit.polling import eventually
from tests.processing.forking_app import App, answer_in_a_child
from tests.processing.kit import SCORE, STATUS, observed
from tests.processing.otlp import received

pytestmark = pytest.mark.server


@pytest.fixture
def sink() -> Iterator[Receiver]:
    """A real OTLP receiver."""
    with http_receiver() as receiver:
        yield receiver


def in_a_fork(work: Callable[[], None]) -> None:
    """Run `work` in a forked child and wait for it; fails when it failed."""
    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join(60)
    assert process.exitcode == 0


def held_until_judged(sink: Receiver) -> App:
    """An application whose spans wait for their scores: with the default of 10 seconds, a child that takes longer on a
    busy machine makes the parent's span leave without one, as it should."""
    return App(sink.url, hold=3600.0, evaluation_timeout=3600.0)


def test_a_fork_while_a_span_is_held(sink: Receiver) -> None:
    """The parent's held span leaves from the parent, once; the child evaluates and exports its own."""
    app = held_until_judged(sink)
    app.bench.judge.gate.clear()
    app.ask("parent")

    def child() -> None:
        app.bench.judge.gate.set()
        app.ask("child")
        assert app.provider.force_flush()

    in_a_fork(child)
    assert [name for name, _ in received(sink)] == ["child"]
    app.bench.judge.gate.set()
    assert app.provider.force_flush()
    spans = received(sink)
    assert [name for name, _ in spans] == ["child", "parent"]
    assert {attributes[SCORE] for _, attributes in spans} == {1.0}
    assert spans[0][1]["pid"] != spans[1][1]["pid"] == os.getpid()
    app.provider.shutdown()


def test_a_fork_while_the_worker_hangs(sink: Receiver) -> None:
    """A worker that is stuck in the parent does not exist in the child, which has a fresh one."""
    app = App(sink.url)
    app.bench.judge.block.clear()
    app.ask("parent")
    eventually(lambda: app.bench.judge.seen)

    def child() -> None:
        app.bench.judge.block.set()
        app.ask("child")
        assert app.provider.force_flush()

    in_a_fork(child)
    assert [(name, attributes[STATUS]) for name, attributes in received(sink)] == [("child", "evaluated")]
    app.bench.judge.block.set()
    app.provider.shutdown()
    assert sorted(name for name, _ in received(sink)) == ["child", "parent"]


def test_forks_in_the_midst_of_traffic(sink: Receiver) -> None:
    """Forking again and again while other threads make calls: every span of parent and children leaves once."""
    app = App(sink.url)
    stop = threading.Event()
    made: list[str] = []

    def traffic() -> None:
        while not stop.is_set() and len(made) < 200:
            made.append(f"parent {len(made)}")
            app.ask(made[-1])

    busy = threading.Thread(target=traffic)
    busy.start()
    for n in range(5):

        def child(n: int = n) -> None:
            app.ask(f"child {n}")
            app.provider.shutdown()

        in_a_fork(child)
    stop.set()
    busy.join(60)
    app.provider.shutdown()
    names = sorted(name for name, _ in received(sink))
    assert names == sorted([*made, *(f"child {n}" for n in range(5))])


def test_a_call_that_is_open_across_a_fork(sink: Receiver) -> None:
    """A call that was open when its process forked is evaluated by the process that ends it."""
    app = App(sink.url)
    with observed(app.provider, "open"):
        in_a_fork(lambda: app.ask("child"))
    app.provider.shutdown()
    assert [(name, attributes[STATUS]) for name, attributes in received(sink)] == [("open", "evaluated")]


def test_a_fork_of_a_fork(sink: Receiver) -> None:
    """Grandchildren start afresh as well."""
    app = App(sink.url)

    def grandchild() -> None:
        app.ask("grandchild")
        app.provider.shutdown()

    def child() -> None:
        app.ask("child")
        in_a_fork(grandchild)
        app.provider.shutdown()

    app.ask("parent")
    in_a_fork(child)
    app.provider.shutdown()
    spans = received(sink)
    assert sorted(name for name, _ in spans) == ["child", "grandchild", "parent"]
    assert {attributes[STATUS] for _, attributes in spans} == {"evaluated"}


def test_spawn(sink: Receiver) -> None:
    """A spawned process sets up its own and shares nothing."""
    app = App(sink.url)
    app.ask("parent")
    process = multiprocessing.get_context("spawn").Process(target=answer_in_a_child, args=(sink.url, "spawned"))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    app.provider.shutdown()
    spans = received(sink)
    assert sorted(name for name, _ in spans) == ["parent", "spawned"]
    assert {attributes[SCORE] for _, attributes in spans} == {1.0}
