"""The compose files, Kubernetes manifests and OpenTelemetry Collector configurations of the span stream and of several
collectors, as far as they can be checked without an engine."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import kubernetes_validate
import pytest
import yaml

from rag_otel_collectors.otlp.kafka import BROKERS
from rag_otel_collectors.otlp.settings import configure
from rag_otel_collectors.otlp.settings_table import CollectorSettings
from tests.stack.conftest import DOCKER

VERSION = "1.36"
COMPOSE = ("compose.kafka.yaml", "compose.several.yaml")


def content(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DOCKER / name).read_text("utf-8"))
    return found


def manifests(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((DOCKER / "kubernetes" / name).read_text("utf-8")))


def of_kind(name: str, kind: str) -> dict[str, Any]:
    (found,) = (each for each in manifests(name) if each["kind"] == kind)
    return found


@pytest.mark.parametrize("name", COMPOSE)
def test_the_compose_files_follow_the_specification(name: str) -> None:
    command = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(DOCKER / name))
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", COMPOSE)
def test_new_services_are_bounded_and_everything_that_is_named_is_there(name: str) -> None:
    """Kafka's image alone writes into its own file system."""
    found, stack = content(name), content("compose.yaml")
    services, profile = found["services"], name.split(".")[1]
    for service, given in services.items():
        assert profile in given["profiles"], service
        if service not in stack["services"]:
            assert given["cap_drop"] == ["ALL"], service
            assert "no-new-privileges:true" in given["security_opt"], service
            assert {"mem_limit", "cpus", "pids_limit"} <= set(given), service
            assert given.get("read_only") or given["image"].startswith("apache/kafka:"), service
            assert re.search(r":v?\d+\.\d+\.\d+$", given["image"]), service
            assert "ports" not in given, service
        assert set(given.get("depends_on", {})) <= {*services, *stack["services"]}, service
        assert set(given.get("secrets", ())) <= set(stack["secrets"]), service
        for source in (volume.partition(":")[0] for volume in given.get("volumes", ())):
            assert (DOCKER / source).exists() if source.startswith(".") else source in found["volumes"], source


@pytest.mark.parametrize("name", ["several.yaml", "kafka.yaml"])
def test_the_otel_collectors_pipelines_name_what_they_configure(name: str) -> None:
    """Its own binary has not read these files. Nothing is given up after a time, and the queue is on disk."""
    found = content(f"otel-collector/{name}")
    pipeline = found["service"]["pipelines"]["traces"]
    for part in ("receivers", "processors", "exporters"):
        assert set(pipeline[part]) == set(found[part])
    assert found["service"]["extensions"] == list(found["extensions"])
    (exporter,) = found["exporters"].values()
    assert exporter["retry_on_failure"]["max_elapsed_time"] == "0s"
    assert exporter["sending_queue"]["storage"] in found["extensions"]


def test_the_otel_collector_finds_the_collectors_and_the_topic() -> None:
    """Names on both sides are the same, in compose and in Kubernetes."""
    several = content("otel-collector/several.yaml")["exporters"]["loadbalancing"]
    services = content("compose.several.yaml")["services"]
    for name in ("collect-1", "collect-2"):
        assert several["resolver"]["dns"]["hostname"] in services[name]["networks"]["default"]["aliases"]
    router = yaml.safe_load(of_kind("otel-collector.yaml", "ConfigMap")["data"]["config.yaml"])
    routed = router["exporters"]["loadbalancing"]
    headless = {each["metadata"]["name"] for each in manifests("collector.yaml") if each["kind"] == "Service"}
    assert routed["resolver"]["dns"]["hostname"] in headless
    routed["protocol"]["otlp"].pop("headers")
    routed["resolver"]["dns"]["hostname"] = several["resolver"]["dns"]["hostname"]
    assert router == content("otel-collector/several.yaml")
    kafka = content("otel-collector/kafka.yaml")["exporters"]["kafka"]
    assert kafka["traces"] == {"topic": CollectorSettings().kafka_topic, "encoding": "otlp_proto"}
    assert kafka["partition_traces_by_id"] is True
    topics = content("compose.kafka.yaml")["services"]["kafka-topics"]["command"]
    assert f"--topic={CollectorSettings().kafka_topic}" in topics


@pytest.mark.parametrize(
    "manifest",
    [*manifests("stream.yaml"), *manifests("otel-collector.yaml")],
    ids=lambda each: f"{each['kind']}-{each['metadata']['name']}",
)
def test_manifests_follow_the_schema_of_kubernetes(manifest: dict[str, Any]) -> None:
    """Strict: a field that the API does not know is an error. KEDA's kinds have no schema here."""
    kubernetes_validate.validate(manifest, VERSION, strict=True)


@pytest.mark.parametrize("name", ["stream.yaml", "otel-collector.yaml"])
def test_pods_fit_a_restricted_namespace_and_their_mounts_are_there(name: str) -> None:
    spec = of_kind(name, "StatefulSet")["spec"]
    pod = spec["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    volumes = {each["name"] for each in pod["volumes"]}
    volumes |= {each["metadata"]["name"] for each in spec["volumeClaimTemplates"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    assert spec["serviceName"] in {each["metadata"]["name"] for each in manifests(name) if each["kind"] == "Service"}
    ports = {port["name"] for port in container["ports"]}
    services = [each for each in manifests(name) if each["kind"] == "Service"]
    assert all(port["targetPort"] in ports for each in services for port in each["spec"]["ports"])


def test_the_readers_of_kafka_take_their_configuration(tmp_path: Any) -> None:
    """With the name and the password that the pod gives; KEDA counts the lag of the same group and topic."""
    file, secret = tmp_path / "collector.toml", tmp_path / "kafka_password"
    file.write_text(of_kind("stream.yaml", "ConfigMap")["data"]["collector.toml"], "utf-8")
    secret.write_text("hunter2-made-up\n", "utf-8")
    stateful = of_kind("stream.yaml", "StatefulSet")["spec"]
    pod = stateful["template"]["spec"]
    environ = {each["name"]: each.get("value", "stream-0") for each in pod["containers"][0]["env"]}
    environ["RAG_OTEL_COLLECTOR_KAFKA_PASSWORD_FILE"] = str(secret)
    del environ["RAG_OTEL_PHOENIX_API_KEY_FILE"]
    made = configure({}, file=str(file), environ=environ)
    settings = made.collector
    assert settings.kafka_member == "stream-0"
    assert settings.kafka_client["sasl.password"] == "hunter2-made-up"
    assert "hunter2-made-up" in made.secrets
    assert "hunter2-made-up" not in str(made.rows())
    assert settings.drain_timeout < pod["terminationGracePeriodSeconds"]
    scaled = of_kind("stream-keda.yaml", "ScaledObject")["spec"]
    assert scaled["scaleTargetRef"] == {
        "kind": "StatefulSet",
        "name": of_kind("stream.yaml", "StatefulSet")["metadata"]["name"],
    }
    (trigger,) = scaled["triggers"]
    counted = trigger["metadata"]
    assert counted["bootstrapServers"] == settings.kafka_client[BROKERS]
    assert (counted["consumerGroup"], counted["topic"]) == (settings.kafka_group, settings.kafka_topic)
    authentication = of_kind("stream-keda.yaml", "TriggerAuthentication")
    assert trigger["authenticationRef"]["name"] == authentication["metadata"]["name"]
    assert all(isinstance(value, str) for value in counted.values())
