"""Session, user and tags: from `using`, from OpenInference's context managers, and combined."""

from __future__ import annotations

import asyncio

from openinference.instrumentation import OITracer, TraceConfig, using_session, using_user
from opentelemetry.context import get_current

from rag_otel import observe, using
from tests.observing.conftest import Recorder


@observe
def answer(question: str) -> str:
    return "yes"


def test_session_user_and_tags_reach_span_and_snapshot(recorder: Recorder) -> None:
    """Inner blocks add to outer blocks and override them."""
    before = get_current()
    with using(session_id="s-1", tags={"tenant": "acme", "tier": "free"}):
        with using(user_id="u-1", tags={"tier": "paid"}):
            answer("why")
        answer("after the inner block")
    assert get_current() is before
    inner, outer = recorder.snapshots
    assert inner is not None
    assert outer is not None
    assert (inner.session_id, inner.user_id, inner.tags) == ("s-1", "u-1", {"tenant": "acme", "tier": "paid"})
    assert (outer.session_id, outer.user_id, outer.tags) == ("s-1", None, {"tenant": "acme", "tier": "free"})
    attributes = recorder.spans[0].attributes or {}
    assert attributes["session.id"] == "s-1"
    assert attributes["user.id"] == "u-1"
    assert attributes["rag.tag.tenant"] == "acme"
    assert attributes["rag.tag.tier"] == "paid"


def test_a_selector_wins_over_the_block(recorder: Recorder) -> None:
    """A selector overrides `using`. If the selector finds nothing, the value of `using` is used."""

    @observe(session_id="session", tags={"tier": "tier"})
    def ask(question: str, session: str | None = None, tier: str | None = None) -> str:
        return "yes"

    with using(session_id="block", tags={"tier": "free", "tenant": "acme"}):
        ask("why", session="selector", tier="paid")
        ask("why")
    first, second = recorder.snapshots
    assert first is not None
    assert second is not None
    assert (first.session_id, first.tags) == ("selector", {"tier": "paid", "tenant": "acme"})
    assert (second.session_id, second.tags) == ("block", {"tier": "free", "tenant": "acme"})


async def test_async_blocks_in_tasks_side_by_side(recorder: Recorder) -> None:
    """Each task has its own session, and one `using` object may be entered more than once."""
    shared = using(tags={"app": "faq"})

    async def ask(session: str) -> None:
        async with shared, using(session_id=session):
            await asyncio.sleep(0)
            answer(session)

    await asyncio.gather(*(ask(f"s-{i}") for i in range(5)))
    assert all(taken and taken.session_id == taken.question for taken in recorder.snapshots)
    assert all(taken and taken.tags == {"app": "faq"} for taken in recorder.snapshots)


def test_openinference_and_we_hear_each_other(recorder: Recorder) -> None:
    """`using_session` is recognised here, and `using` sets session and user on OpenInference's spans."""
    tracer = OITracer(recorder.provider.get_tracer("openinference"), TraceConfig())
    with using_session("s-1"), using_user("u-1"):
        answer("why")
    assert (recorder.taken.session_id, recorder.taken.user_id) == ("s-1", "u-1")
    recorder.clear()
    with using(session_id="s-2", user_id="u-2"), tracer.start_as_current_span("llm", openinference_span_kind="llm"):
        pass
    assert recorder.attribute("session.id") == "s-2"
    assert recorder.attribute("user.id") == "u-2"
