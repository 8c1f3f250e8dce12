"""What every test shares: internal errors are raised, not swallowed, no environment setting leaks in, and the last
lines of a run say what it has left out."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import hypothesis
import pytest

from testkit.programs import missing_programs

if TYPE_CHECKING:
    from rag_otel.cli.demo.phoenix_server import PhoenixServer

os.environ["RAG_OTEL_RAISE_INTERNAL_ERRORS"] = "1"
# Frameworks under test must not report home.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["TRACELOOP_TELEMETRY"] = "false"
# Logfire's plugin of pydantic would be imported, for a second of CPU time, by every program that the tests start.
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
# How long an example takes says how busy the machine is, not whether the code is right.
hypothesis.settings.register_profile("untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("untimed")
# A shell that starts the run in the background has it ignore Ctrl-C, and the programs that it starts inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own RAG_OTEL_*, OTEL_* and PHOENIX_* variables must not decide a test."""
    for name in list(os.environ):
        if (
            name.startswith(("RAG_OTEL_", "OTEL_", "PHOENIX_", "OPENINFERENCE_"))
            and name != "RAG_OTEL_RAISE_INTERNAL_ERRORS"
        ):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _forgotten_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test remembers as a secret must not be masked in the messages that another one looks at."""
    from rag_otel.safety import redaction

    monkeypatch.setattr(redaction, "_known", redaction._known)


@pytest.fixture
def uninstrumented() -> Iterator[None]:
    """What the test instruments is taken down after it, and what an earlier one left is gone before."""
    import rag_otel

    rag_otel.uninstrument()
    yield
    rag_otel.uninstrument()


@pytest.fixture(scope="session")
def phoenix_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PhoenixServer]:
    """A real Phoenix, started once per run: give each test its own project name."""
    from rag_otel.cli.demo.phoenix_server import start_phoenix

    with start_phoenix(tmp_path_factory.mktemp("phoenix")) as server:
        yield server


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Redis server, started once per run: empty it before use."""
    from tests.support.redis_server import redis_server

    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


QUARANTINE_OPTION = "--quarantined"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(QUARANTINE_OPTION, action="store_true", help="run the tests marked `quarantine` as well")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test that is known to be unreliable is not run, unless asked for, and is listed at the end."""
    if config.getoption(QUARANTINE_OPTION):
        return
    for item in items:
        if (mark := item.get_closest_marker("quarantine")) is not None:
            item.add_marker(pytest.mark.skip(reason=f"in quarantine: {mark.kwargs['reason']}"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None]:
    """After everything else: the programs that are missing, with their commands, and the tests in quarantine."""
    yield
    reports = terminalreporter.stats.get("skipped", ())
    skipped = [(report.nodeid, str(report.longrepr[2])) for report in reports if report.longrepr]
    for line in missing_programs(reason for _, reason in skipped):
        terminalreporter.write_line(line, yellow=True)
    for nodeid, reason in skipped:
        if "in quarantine: " in reason:
            terminalreporter.write_line(f"{nodeid} is {reason.removeprefix('Skipped: ')}", yellow=True)
