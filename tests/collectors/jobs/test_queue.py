"""The contract of a job queue, with a real broker: what `rag_otel_collectors.jobs.job_queue` promises."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from rag_otel.errors import ConfigurationError, RetryableError
from rag_otel_collectors.jobs.delivery import Delivery
from rag_otel_collectors.jobs.job_queue import JobQueue
from rag_otel_collectors.jobs.queue import QueueCounts, QueuedJob, QueueSettings
from rag_otel_collectors.jobs.rabbit_queues import partition_of
from testkit.rabbitmq import MAX_MESSAGE_BYTES
from testkit.shared_servers import SharedBroker

pytestmark = pytest.mark.server
MakeSettings = Callable[..., QueueSettings]


def a_job(key: str, *, tenant: str = "one") -> QueuedJob:
    return QueuedJob(key=key, tenant=tenant, body=f"body of {key}".encode())


@contextlib.asynccontextmanager
async def a_queue(settings: QueueSettings) -> AsyncIterator[JobQueue]:
    queue = JobQueue(settings)
    await queue.open()
    try:
        yield queue
    finally:
        await queue.close()


async def until(condition: Callable[[], bool], *, within_s: float = 90.0) -> None:
    async with asyncio.timeout(within_s):
        while not condition():
            await asyncio.sleep(0.01)


def other_tenant(than: str, partitions: int) -> str:
    """A tenant of another partition."""
    return next(
        name for name in map(str, range(1000)) if partition_of(name, partitions) != partition_of(than, partitions)
    )


async def test_a_job_is_delivered_once_and_gone_after_it_is_acknowledged(queue_settings: MakeSettings) -> None:
    seen: list[tuple[str, bytes, int]] = []

    async def handle(delivery: Delivery) -> None:
        seen.append((delivery.key, delivery.body, delivery.starts))
        await delivery.ack()

    async with a_queue(queue_settings()) as queue:
        for n in range(20):
            await queue.publish(a_job(str(n)))
        await queue.consume(handle)
        await until(lambda: len(seen) == 20)
        assert await queue.drain(60)
    assert sorted(seen) == sorted((str(n), f"body of {n}".encode(), 0) for n in range(20))
    async with a_queue(queue_settings()) as queue:
        await queue.consume(handle)
        await queue.publish(a_job("last"))
        await until(lambda: seen[-1][0] == "last")
    assert len(seen) == 21


async def test_a_failed_start_is_repeated_with_a_count_and_then_given_up_with_its_reason(
    queue_settings: MakeSettings,
) -> None:
    """The last start is the one that gives up: exactly `max_starts` in all."""
    starts: list[int] = []

    async def handle(delivery: Delivery) -> None:
        starts.append(delivery.starts)
        if delivery.starts < 2:
            await delivery.retry_later("not yet")
        else:
            await delivery.dead_letter("never")

    async with a_queue(queue_settings()) as queue:
        await queue.publish(a_job("poison", tenant="acme"))
        await queue.consume(handle)
        await until(lambda: len(starts) == 3)
        await queue.drain(60)
        (dead,) = await queue.dead_letters()
        assert (dead.key, dead.tenant, dead.reason, dead.starts) == ("poison", "acme", "never", 3)
        assert dead.body == b"body of poison"
        assert len(await queue.dead_letters()) == 1, "looking does not take it away"
    assert starts == [0, 1, 2]


async def test_dead_letters_are_queued_again_with_all_their_starts(queue_settings: MakeSettings) -> None:
    seen: Counter[str] = Counter()

    async def give_up(delivery: Delivery) -> None:
        seen[delivery.key] += 1
        await delivery.dead_letter("judge away")

    async def finish(delivery: Delivery) -> None:
        assert delivery.starts == 0
        seen[delivery.key] += 1
        await delivery.ack()

    async with a_queue(queue_settings()) as queue:
        for key in ("a", "b", "c"):
            await queue.publish(a_job(key))
        await queue.consume(give_up)
        await until(lambda: len(seen) == 3)
        await queue.drain(60)
    seen.clear()
    async with a_queue(queue_settings()) as queue:
        assert await queue.retry_dead_letters(["b"]) == 1
        left: list[str] = []
        async with asyncio.timeout(60):
            while left != ["a", "c"]:  # RabbitMQ has a letter that was looked at back a moment later
                left = sorted(each.key for each in await queue.dead_letters())
            retried = 0
            while retried < 2:
                retried += await queue.retry_dead_letters()
        assert await queue.dead_letters() == []
        await queue.consume(finish)
        await until(lambda: seen == {"a": 1, "b": 1, "c": 1})


async def test_a_full_queue_refuses(queue_settings: MakeSettings) -> None:
    """The broker counts what it stored: a publisher learns of every job that it did not take."""
    taken, refused = 0, None
    async with a_queue(queue_settings(max_jobs=10)) as queue:
        while refused is None and taken < 100:
            try:
                await queue.publish(a_job(str(taken)))
                taken += 1
            except RetryableError as error:
                refused = str(error)
        assert taken >= 10
        assert "takes no more" in (refused or "")
        await queue.publish(a_job("of another tenant", tenant=other_tenant("one", 2)))
        seen: set[str] = set()

        async def handle(delivery: Delivery) -> None:
            seen.add(delivery.key)
            await delivery.ack()

        await queue.consume(handle)
        await until(lambda: len(seen) == taken + 1)


async def test_one_tenants_jobs_do_not_wait_for_all_jobs_of_another(queue_settings: MakeSettings) -> None:
    order: list[str] = []

    async def handle(delivery: Delivery) -> None:
        await asyncio.sleep(0.01)
        order.append(delivery.key)
        await delivery.ack()

    async with a_queue(queue_settings(prefetch=2)) as queue:
        for n in range(200):
            await queue.publish(a_job(f"flood {n}", tenant="one"))
        for n in range(5):
            await queue.publish(a_job(f"few {n}", tenant=other_tenant("one", 2)))
        await queue.consume(handle)
        await until(lambda: len(order) == 205)
    assert max(order.index(f"few {n}") for n in range(5)) < 100


async def test_a_delivery_that_nobody_settled_is_delivered_again_and_counted(queue_settings: MakeSettings) -> None:
    """The connection closes with unsettled jobs, as when the worker is killed."""
    starts: dict[str, list[int]] = {}

    async def hang(delivery: Delivery) -> None:
        starts.setdefault(delivery.key, []).append(delivery.starts)
        await asyncio.sleep(60)

    async def finish(delivery: Delivery) -> None:
        starts.setdefault(delivery.key, []).append(delivery.starts)
        await delivery.ack()

    settings = queue_settings()
    async with a_queue(settings) as queue:
        for key in ("a", "b", "c"):
            await queue.publish(a_job(key))
        await queue.consume(hang)
        await until(lambda: len(starts) == 3)
        assert not await queue.drain(0.1)
    async with a_queue(settings) as queue:
        await queue.consume(finish)
        await until(lambda: all(len(each) >= 2 for each in starts.values()))
    assert {key: each[:2] for key, each in starts.items()} == {key: [0, 1] for key in ("a", "b", "c")}


async def test_no_more_than_the_prefetch_of_a_partition_run_at_a_time_and_one_suspect(
    queue_settings: MakeSettings,
) -> None:
    """Else a worker that is killed would return more than it ran, and suspects would be blamed for each other."""
    settings, running, most = queue_settings(prefetch=3, max_starts=10), 0, 0
    hanging: set[str] = set()
    go_on = asyncio.Event()

    async def hang(delivery: Delivery) -> None:
        hanging.add(delivery.key)
        await asyncio.sleep(60)

    async def count(delivery: Delivery) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        if delivery.starts == 0:
            await go_on.wait()
        running -= 1
        seen.append(delivery.starts)
        await delivery.ack()

    seen: list[int] = []
    async with a_queue(settings) as queue:
        for n in range(3):
            await queue.publish(a_job(str(n)))
        await queue.consume(hang)
        await until(lambda: len(hanging) == 3)
    async with a_queue(settings) as queue:
        await queue.consume(count)
        await until(lambda: len(seen) >= 3)
        assert most == 1
        assert min(seen) >= 1
    seen.clear()
    async with a_queue(queue_settings(prefetch=3, max_starts=10)) as queue:
        await queue.consume(count)
        for n in range(20):
            await queue.publish(a_job(f"more {n}"))
        await until(lambda: running == 3)
        go_on.set()
        await until(lambda: len(seen) == 20)
        assert most == 3


async def publish_as_another_program(queue: Any, name: str) -> None:
    """A body that is no job, with a header that is no number."""
    headers = {"x-rag-otel-starts": "many"}
    await queue._broker.publish(b"\xff{", queue=f"{name}.0", content_type="application/json", headers=headers)


async def test_a_message_without_any_of_our_headers_is_delivered_to_the_guard(queue_settings: MakeSettings) -> None:
    """Whoever published it: the queue settles what it can read nothing of."""
    settings, seen = queue_settings(), []

    async def handle(delivery: Delivery) -> None:
        seen.append((delivery.key, delivery.starts, delivery.body))
        await delivery.dead_letter("not an evaluation job")

    async with a_queue(settings) as queue:
        await publish_as_another_program(queue, settings.name)
        await queue.consume(handle)
        await until(lambda: len(seen) == 1)
        await queue.drain(60)
        (dead,) = await queue.dead_letters()
    assert (dead.reason, dead.body, dead.starts) == ("not an evaluation job", b"\xff{", 1)


async def test_other_settings_for_the_same_queue_are_an_error_that_says_so(queue_settings: MakeSettings) -> None:
    async with a_queue(queue_settings()):
        with pytest.raises(ConfigurationError, match="exists with other settings"):
            await JobQueue(queue_settings(max_jobs=3)).open()


async def test_a_wrong_password_and_a_broker_that_is_away_are_told_apart(
    queue_settings: MakeSettings, rabbit: SharedBroker
) -> None:
    with pytest.raises(ConfigurationError, match="refuses the user"):
        await JobQueue(queue_settings(url=rabbit.wrong_url)).open()
    with pytest.raises(RetryableError, match="no connection"):
        await JobQueue(queue_settings(url=rabbit.url.replace(str(rabbit.port), "1"), timeout_s=2.0)).open()


async def test_jobs_are_counted_where_they_wait(queue_settings: MakeSettings) -> None:
    async def give_up(delivery: Delivery) -> None:
        await delivery.dead_letter("never")

    settings = queue_settings(partitions=1)
    async with a_queue(settings) as queue:
        for n in range(3):
            await queue.publish(a_job(str(n)))
        assert await queue.counts() == QueueCounts(waiting=3, suspects=0, dead=0)
        await queue.consume(give_up)
        await queue.drain(60)
    async with a_queue(settings) as queue:
        await queue.consume(give_up)
        async with asyncio.timeout(90):
            while await queue.counts() != QueueCounts(waiting=0, suspects=0, dead=3):
                await asyncio.sleep(0.05)


async def test_a_job_that_the_broker_never_takes_does_not_hold_up_the_others(
    queue_settings: MakeSettings, caplog: pytest.LogCaptureFixture
) -> None:
    """RabbitMQ has a largest message. Such a job is dropped, with an error that says what to do."""
    large = QueuedJob(key="large", tenant="", body=bytes(MAX_MESSAGE_BYTES + 1))
    async with a_queue(queue_settings()) as queue:
        await queue.publish(a_job("before"), large, a_job("after"))
        assert (await queue.counts()).waiting >= 2
        await queue.publish(large)
        seen: Counter[str] = Counter()

        async def handle(delivery: Delivery) -> None:
            seen[delivery.key] += 1
            await delivery.ack()

        await queue.consume(handle)
        await until(lambda: set(seen) == {"before", "after"})
    ours = [record.getMessage() for record in caplog.records if record.name == "rag_otel"]
    told = [message for message in ours if "job large is dropped" in message]
    assert len(told) == 2
    assert "max_message_size" in told[0]
