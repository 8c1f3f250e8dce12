"""The dashboards: as the generator writes them, and every query of every panel asked of a real Prometheus."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard
from opentelemetry.sdk.resources import Resource

from rag_otel.model import Usage
from rag_otel.safety.guard import counters
from rag_otel.settings import resolve
from rag_otel.telemetry.telemetry import Telemetry, telemetry_of
from testkit.collector import CollectorProcess, a_backend, a_collector
from testkit.otlp_requests import a_rag_trace, a_request, a_span
from testkit.polling import eventually
from tests.stack.conftest import DOCKER
from tests.stack.kit import Prometheus, a_prometheus, free_port
from tests.support.results import a_result, an_evaluation

pytestmark = pytest.mark.server


GRAFANA = DOCKER / "grafana"
DASHBOARDS = sorted((GRAFANA / "dashboards").glob("*.json"))
OR_ZERO = " or vector(0)"
NEVER_HERE = ("lost_spans", "refused_requests", "send_retries", "worker_restarts", "ALERTS")
"""What does not happen in this test: such queries show the zero that they add."""
VARIABLES = {"$job": ".*", "$service": ".*", "$metric": ".*", "$__rate_interval": "20s", "$__range": "1m"}


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dashboard", GRAFANA / "dashboard.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up while the class is made
    spec.loader.exec_module(module)
    return module


def panels(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["panels"]
    return found


def queries() -> dict[str, str]:
    """Panel and legend -> query, Grafana's variables filled in as Grafana fills them."""
    found = {}
    for path in DASHBOARDS:
        for panel in panels(path):
            for target in panel.get("targets", []):
                query = target["expr"]
                for name, value in VARIABLES.items():
                    query = query.replace(name, value)
                found[f"{path.stem}: {panel['title']}: {target['legendFormat']}"] = query
    return found


def test_the_dashboard_is_what_its_generator_writes() -> None:
    """Edited by hand it would be lost with the next change; run docker/grafana/dashboard.py."""
    assert (GRAFANA / "dashboards" / "overview.json").read_text("utf-8") == generator().text()


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_dashboards_hold_together(path: Path) -> None:
    """Ids are unique, panels do not overlap, and each asks the chosen data source."""
    found = panels(path)
    assert max(Counter(panel["id"] for panel in found).values()) == 1
    taken: set[tuple[int, int]] = set()
    for panel in found:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells
        if panel["type"] != "row":
            sources = [panel["datasource"], *(target["datasource"] for target in panel["targets"])]
            assert all(source["uid"] == "${datasource}" for source in sources)
            assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"]) > 0
    variables = {each["name"] for each in json.loads(path.read_text("utf-8"))["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)", path.read_text("utf-8"))) - {"__rate_interval", "__range"}
    assert used <= variables | {"__all"}


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_grafanas_own_models_know_every_field(path: Path) -> None:
    """Read into the types of Grafana's SDK and written again, nothing is lost: a misspelt option would be."""
    plugins.register_default_plugins()
    source = json.loads(path.read_text("utf-8"))
    read = json.loads(JSONEncoder().encode(Dashboard.from_json(source)))
    assert not list(lost(source, read))
    number = next(number for number, panel in enumerate(source["panels"]) if panel["type"] == "timeseries")
    source["panels"][number]["fieldConfig"]["defaults"]["custom"]["showPoint"] = "never"
    read = json.loads(JSONEncoder().encode(Dashboard.from_json(source)))
    assert list(lost(source, read)) == [f"/panels/{number}/fieldConfig/defaults/custom/showPoint"]


def lost(source: Any, read: Any, place: str = "") -> Iterator[str]:
    """Where something of `source` is not, or not as it was, in `read`."""
    if isinstance(source, dict) and isinstance(read, dict):
        for key, value in source.items():
            yield from lost(value, read.get(key), f"{place}/{key}")
    elif isinstance(source, list) and isinstance(read, list) and len(source) == len(read):
        for number, (one, other) in enumerate(zip(source, read, strict=True)):
            yield from lost(one, other, f"{place}/{number}")
    elif source != read:
        yield place


def test_grafana_is_provisioned_with_them() -> None:
    """The provider reads the folder that compose mounts; the data source is the stack's Prometheus."""
    provider = yaml.safe_load((GRAFANA / "provisioning" / "dashboards" / "dashboards.yaml").read_text("utf-8"))
    source = yaml.safe_load((GRAFANA / "provisioning" / "datasources" / "prometheus.yaml").read_text("utf-8"))
    mounts = yaml.safe_load((DOCKER / "compose.yaml").read_text("utf-8"))["services"]["grafana"]["volumes"]
    assert f"./grafana/dashboards:{provider['providers'][0]['options']['path']}:ro" in mounts
    assert source["datasources"][0]["url"] == "http://prometheus:9090"


class Load:
    """An application that judges in process with a model that costs, and a collector with traffic."""

    def __init__(self, telemetry: Telemetry, collector: CollectorProcess) -> None:
        self._telemetry = telemetry
        self._collector = collector

    def go_on(self) -> None:
        """A little more of everything."""
        usage = Usage(input_tokens=900, output_tokens=80, cost_usd=0.001)
        result = a_result(an_evaluation(usage=usage, duration_s=0.8, judge="openai/gpt-4o-mini"))
        for writer in self._telemetry.writers:
            writer.write([result])
        for name in ("judge.cache.hit", "judge.cache.miss", "delivery.phoenix.lost", "alerts.raised.high_risk"):
            counters.add(name)
        for answer in ("It was built in 1827.", "It is made of cheese from Wisconsin."):
            self._collector.export(a_request(*a_rag_trace(answer=answer)))
        self._collector.export(a_request(a_span(os.urandom(16), "GET /"), scope="web"))


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[tuple[Prometheus, Load]]:
    """A Prometheus that scrapes both shapes: evaluation in process, and the collector."""
    port = free_port()
    settings = {"telemetry_exporter": "prometheus", "telemetry_address": f"127.0.0.1:{port}"}
    telemetry = telemetry_of(resolve(settings, {}).settings, resource=Resource.create)
    with ExitStack() as running:
        telemetry.start()
        running.callback(telemetry.shutdown, 5.0)
        backend = running.enter_context(a_backend())
        collector = running.enter_context(
            a_collector(tmp_path / "collector", "--backend", backend.address, "--set", "drift_baseline_count=20")
        )
        jobs = {"rag-otel-collect": f"127.0.0.1:{collector.http_port}", "app": f"127.0.0.1:{port}"}
        nobody = f"127.0.0.1:{free_port()}"
        prometheus = running.enter_context(
            a_prometheus(tmp_path / "prometheus", jobs=jobs, alertmanager=nobody, divisor=60)
        )
        yield prometheus, Load(telemetry, collector)


def test_every_query_of_every_panel_has_data(watched: tuple[Prometheus, Load]) -> None:
    """Asked of a Prometheus that scraped real `/metrics`, without the zeros that panels add for rare events."""
    prometheus, load = watched
    waiting = {
        title: query if any(name in query for name in NEVER_HERE) else query.removesuffix(OR_ZERO)
        for title, query in queries().items()
    }
    assert len(waiting) > 30

    def answered() -> bool:
        load.go_on()
        for title, query in list(waiting.items()):
            values = [float(each["value"][1]) for each in prometheus.query(query)]
            if values and all(value == value for value in values):
                del waiting[title]
        return not waiting

    try:
        eventually(answered, within_s=120)
    except AssertionError:
        pytest.fail("no data, or not a number:\n" + "\n".join(f"{title}: {query}" for title, query in waiting.items()))


def test_exemplars_lead_from_a_bucket_to_a_trace(watched: tuple[Prometheus, Load]) -> None:
    """Prometheus keeps the trace id of an answer beside the bucket that it fell into."""
    prometheus, load = watched

    def trace_ids() -> set[str]:
        load.go_on()
        parameters = {"start": "1", "end": "9999999999"}
        found = prometheus.get("query_exemplars", query="rag_otel_evaluation_score_bucket", **parameters)
        return {exemplar["labels"]["trace_id"] for series in found for exemplar in series["exemplars"]}

    assert all(re.fullmatch("[0-9a-f]{32}", each) for each in eventually(trace_ids))
