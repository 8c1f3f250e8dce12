"""The compose file and the Kubernetes manifests of evaluation jobs, as far as they can be checked without an engine."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from rag_otel_collectors.jobs.queue import QueueSettings
from rag_otel_collectors.otlp.settings import configure
from tests.stack.conftest import DOCKER

QUEUE = QueueSettings(url="amqp://host")

JOBS = DOCKER / "compose.jobs.yaml"
VERSION = "1.36"


def compose() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(JOBS.read_text("utf-8"))
    return content


def manifests(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((DOCKER / "kubernetes" / name).read_text("utf-8")))


def of_kind(kind: str) -> dict[str, Any]:
    (found,) = (each for name in ("work.yaml", "work-keda.yaml") for each in manifests(name) if each["kind"] == kind)
    return found


def test_the_compose_file_follows_the_specification() -> None:
    command = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(JOBS))
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_new_service_is_hardened_and_bounded() -> None:
    """As those of the stack are; `collect` is one of those, with more environment."""
    services = compose()["services"]
    assert set(services) == {"rabbitmq", "work", "collect"}
    for name in ("rabbitmq", "work"):
        service = services[name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in service["security_opt"]
        assert {"mem_limit", "cpus", "pids_limit"} <= set(service)
        assert re.search(r":v?\d+\.\d+\.\d+$", service["image"])
        assert set(service["profiles"]) == {"jobs", "all"}
        assert "ports" not in service
    stack = yaml.safe_load((DOCKER / "compose.yaml").read_text("utf-8"))
    assert "collect" in stack["services"]
    secrets = {**stack["secrets"], **compose()["secrets"]}
    for service in services.values():
        named = {each if isinstance(each, str) else each["source"] for each in service.get("secrets", [])}
        assert named <= set(secrets)
        for other in service.get("depends_on", {}):
            assert other in {*services, *stack["services"]}
    assert all(Path(secret["file"]).parent == Path("secrets") for secret in secrets.values())


@pytest.mark.parametrize("manifest", manifests("work.yaml"), ids=lambda each: str(each["kind"]))
def test_manifests_follow_the_schema_of_kubernetes(manifest: dict[str, Any]) -> None:
    """Strict: a field that the API does not know is an error. KEDA's kinds have no schema here."""
    kubernetes_validate.validate(manifest, VERSION, strict=True)


def test_the_pod_fits_a_restricted_namespace_and_everything_that_is_named_is_there() -> None:
    template = of_kind("Deployment")["spec"]["template"]
    assert of_kind("Deployment")["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    pod = template["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    ports = {port["name"] for port in container["ports"]}
    for probe in ("startupProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["path"] == "/healthz"
        assert container[probe]["httpGet"]["port"] in ports


def test_the_workers_take_their_configuration(tmp_path: Path) -> None:
    """The ConfigMap is a configuration; draining fits the grace period; the probe's port is the metrics' port."""
    file, secret = tmp_path / "work.toml", tmp_path / "job_queue_url"
    file.write_text(of_kind("ConfigMap")["data"]["work.toml"], "utf-8")
    secret.write_text("amqp://user:password@rabbitmq:5672/\n", "utf-8")
    configuration = configure({}, file=str(file), environ={"RAG_OTEL_JOB_QUEUE_URL_FILE": str(secret)})
    pod = of_kind("Deployment")["spec"]["template"]["spec"]
    assert configuration.collector.drain_timeout < pod["terminationGracePeriodSeconds"]
    settings = configuration.evaluation.settings
    assert settings.judge.job_queue_url == "amqp://user:password@rabbitmq:5672/"
    port = next(each for each in pod["containers"][0]["ports"] if each["name"] == "metrics")
    assert settings.telemetry.address == f"0.0.0.0:{port['containerPort']}"
    assert settings.telemetry.exporter == "prometheus"


def test_keda_counts_the_queues_that_wait_for_workers() -> None:
    """The partitions and the suspects of the default name; neither what waits for its retry nor the dead letters."""
    scaled = of_kind("ScaledObject")["spec"]
    assert scaled["scaleTargetRef"]["name"] == of_kind("Deployment")["metadata"]["name"]
    (trigger,) = scaled["triggers"]
    assert trigger["authenticationRef"]["name"] == of_kind("TriggerAuthentication")["metadata"]["name"]
    pattern, name = re.compile(trigger["metadata"]["queueName"]), QUEUE.name
    counted = [f"{name}.{n}" for n in range(QUEUE.partitions)]
    assert all(pattern.match(each) for each in (*counted, f"{name}.suspects"))
    assert not any(pattern.match(f"{name}.{other}") for other in ("dead", "retry.1s", "retry.10s"))
    assert all(isinstance(value, str) for value in trigger["metadata"].values())
