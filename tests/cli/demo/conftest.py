"""The demo, run once for all that look at it: a real Phoenix with a week of judged answers."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import rag_otel
from rag_otel.cli.demo import command as demo
from rag_otel.cli.demo.report import StoryAnswer
from rag_otel.cli.demo.story import examples_folder
from rag_otel_collectors.stored.phoenix_client import PhoenixClient
from testkit.shared_servers import SharedPhoenix


@dataclass
class Told:
    """The demo after its story, before it says what to look at."""

    base_url: str
    project: str
    outcomes: list[StoryAnswer]

    @property
    def reader(self) -> PhoenixClient:
        return PhoenixClient(self.base_url)


@pytest.fixture(scope="session")
def told(phoenix_server: SharedPhoenix) -> Iterator[Told]:
    """The story, told to the suite's Phoenix."""
    with contextlib.ExitStack() as stack:
        stack.callback(rag_otel.uninstrument)
        project = f"demo-{secrets.token_hex(4)}"  # each worker of the test run tells the story to the same Phoenix
        found = demo.tell(examples_folder(), phoenix_server.base_url, project)
        yield Told(phoenix_server.base_url, project, found)
