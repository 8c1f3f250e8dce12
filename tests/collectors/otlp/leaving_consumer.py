"""A process that reads a topic until it is told to stop, and then ends: `BROKERS TOPIC FOLDER`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any, cast

from rag_otel.durable.dead_letters import DeadLetters
from rag_otel_collectors.otlp.metrics import Metrics
from rag_otel_collectors.otlp.receivers import kafka_consumer
from rag_otel_collectors.otlp.receivers.kafka_consumer import KafkaReceiver
from rag_otel_collectors.otlp.receivers.reception import Reception
from rag_otel_collectors.otlp.receivers.taken_messages import TakenMessages
from rag_otel_collectors.otlp.settings_table import CollectorSettings

LEAVE_S = 0.5


async def main(brokers: str, topic: str, folder: Path) -> None:
    receiver = KafkaReceiver(
        CollectorSettings(kafka_brokers=(brokers,), kafka_topic=topic, kafka_group=topic),
        Reception(intake=cast(Any, None), metrics=Metrics(), keys=cast(Any, None)),
        DeadLetters(folder),
        TakenMessages(folder, topic),
    )
    reading = asyncio.create_task(receiver.run())
    async with asyncio.timeout(60):
        while not receiver._stored:
            await asyncio.sleep(0.02)
    print("reads", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    reading.cancel()
    kafka_consumer._LEAVE_S = LEAVE_S  # type: ignore[misc]
    await receiver.stop()
    await receiver.stop()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
