"""What every test shares: internal errors are raised, not swallowed, no environment setting leaks in, and the last
lines of a run say what it has left out."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from weakref import WeakSet

import hypothesis
import pytest

from testkit.programs import missing_programs
from testkit.shared_servers import SharedPhoenix, close_shared_servers, open_shared_servers, shared_server
from testkit.size import examples

os.environ["RAG_OTEL_RAISE_INTERNAL_ERRORS"] = "1"
# Frameworks under test must not report home.
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["TRACELOOP_TELEMETRY"] = "false"
# Logfire's plugin of pydantic would be imported, for a second of CPU time, by every program that the tests start.
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
# How long an example takes says how busy the machine is, not whether the code is right.
hypothesis.settings.register_profile(
    "untimed",
    max_examples=examples(100),
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
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


@pytest.fixture(autouse=True)
def _nothing_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said the first time only is said in every test that looks for it."""
    from rag_otel.safety.guard import counters

    monkeypatch.setattr(counters, "_counts", Counter())


@pytest.fixture(autouse=True)
def _no_guard_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guarded function of an earlier test may be alive still, and would ask for its metric."""
    if (calls := sys.modules.get("rag_otel.guarding.entry")) is not None:
        monkeypatch.setattr(calls, "_declared", WeakSet())


@pytest.fixture
def uninstrumented() -> Iterator[None]:
    """What the test instruments is taken down after it, and what an earlier one left is gone before."""
    import rag_otel

    rag_otel.uninstrument()
    yield
    rag_otel.uninstrument()


@pytest.fixture(scope="session")
def phoenix_server() -> SharedPhoenix:
    """A real Phoenix, one for the whole run: give each test its own project name."""
    return SharedPhoenix(**shared_server("phoenix"))


@pytest.fixture(scope="session")
def redis_url(worker_number: int) -> str:
    """A database of this worker in a real Redis server, one for the whole run: empty it before use."""
    return f"{shared_server('redis')['url']}/{worker_number}"


@pytest.fixture(scope="session")
def worker_number() -> int:
    """Which of the run's workers this is, from 0."""
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))


QUARANTINE_OPTION = "--quarantined"
SLOW_S = 5.0
MOST_SLOW = 20


def _duration(report: pytest.TestReport) -> float:
    return report.duration


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(QUARANTINE_OPTION, action="store_true", help="run the tests marked `quarantine` as well")


def pytest_configure(config: pytest.Config) -> None:
    """The process that the run was started with holds its servers."""
    if not hasattr(config, "workerinput"):
        open_shared_servers(for_workers=bool(config.getoption("numprocesses", None)))


def pytest_collection() -> None:
    """Nothing that is imported for the tests becomes garbage; looking for it takes a fifth of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """From now on collections look at what tests make, and no longer at all that was imported."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        close_shared_servers()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Slow tests come first, so that no worker ends long after the others. A test that is known to be unreliable is not
    run, unless asked for, and is listed at the end."""
    if config.getoption("numprocesses", None) or hasattr(config, "workerinput"):
        items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    if config.getoption(QUARANTINE_OPTION):
        return
    for item in items:
        if (mark := item.get_closest_marker("quarantine")) is not None:
            item.add_marker(pytest.mark.skip(reason=f"in quarantine: {mark.kwargs['reason']}"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None]:
    """After everything else: slow tests without a reason beside them, missing programs with what installs them, and
    the tests in quarantine. How long a test takes is never a failure: the machine may have been busy."""
    yield
    calls = [each for kind in ("passed", "failed") for each in terminalreporter.stats.get(kind, ())]
    slow = sorted((each for each in calls if each.duration > SLOW_S and "slow" not in each.keywords), key=_duration)
    if slow:
        load = f"{os.getloadavg()[1]:.1f} on {os.cpu_count()} cores"
        terminalreporter.write_line(f"over {SLOW_S:g} s and not marked `slow` (load {load}):", yellow=True)
    for report in slow[::-1][:MOST_SLOW]:
        terminalreporter.write_line(f"  {report.duration:6.1f} s {report.nodeid}", yellow=True)
    reports = terminalreporter.stats.get("skipped", ())
    skipped = [(report.nodeid, str(report.longrepr[2])) for report in reports if report.longrepr]
    for line in missing_programs(reason for _, reason in skipped):
        terminalreporter.write_line(line, yellow=True)
    for nodeid, reason in skipped:
        if "in quarantine: " in reason:
            terminalreporter.write_line(f"{nodeid} is {reason.removeprefix('Skipped: ')}", yellow=True)
