"""The Kubernetes manifests against the API's own schema, and against what a restricted namespace asks for."""

from __future__ import annotations

import copy
import tomllib
from typing import Any

import kubernetes_validate
import pytest
import yaml

from rag_otel_collectors.otlp.settings import configure
from tests.stack.conftest import DOCKER

VERSION = "1.36"
MANIFESTS = DOCKER / "kubernetes" / "collector.yaml"


def manifests() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(MANIFESTS.read_text("utf-8")))


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [each for each in manifests() if each["kind"] == kind]


def pod() -> dict[str, Any]:
    spec: dict[str, Any] = of_kind("StatefulSet")[0]["spec"]["template"]["spec"]
    return spec


@pytest.mark.parametrize("manifest", manifests(), ids=lambda each: f"{each['kind']}-{each['metadata']['name']}")
def test_manifests_follow_the_schema_of_kubernetes(manifest: dict[str, Any]) -> None:
    """Strict: a field that the API does not know is an error."""
    kubernetes_validate.validate(manifest, VERSION, strict=True)


def test_the_schema_is_asked_in_earnest() -> None:
    """A misspelt field would be found."""
    broken = copy.deepcopy(of_kind("StatefulSet")[0])
    broken["spec"]["template"]["spec"]["containers"][0]["livenessProb"] = {}
    with pytest.raises(kubernetes_validate.ValidationError, match="livenessProb"):
        kubernetes_validate.validate(broken, VERSION, strict=True)


def test_the_pod_fits_a_restricted_namespace() -> None:
    """The Pod Security Standard `restricted`, and a root file system that cannot be written."""
    security = pod()["securityContext"]
    assert security["runAsNonRoot"] is True
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = pod()["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {"requests", "limits"} == set(container["resources"])


def test_probes_ask_what_the_collector_answers() -> None:
    """Alive is not ready: a full queue takes it out of the service and does not restart it."""
    (container,) = pod()["containers"]
    paths = {probe: container[probe]["httpGet"]["path"] for probe in container if probe.endswith("Probe")}
    assert paths == {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}


def test_everything_that_is_named_is_there() -> None:
    """Selectors, ports, mounts and the headless service point at something."""
    labels = of_kind("StatefulSet")[0]["spec"]["template"]["metadata"]["labels"].items()
    for each in (*of_kind("Service"), *of_kind("PodDisruptionBudget"), *of_kind("NetworkPolicy")):
        selector = each["spec"].get("selector") or each["spec"]["podSelector"]
        assert (selector.get("matchLabels") or selector).items() <= labels
    (container,) = pod()["containers"]
    ports = {port["name"] for port in container["ports"]}
    assert all(port["targetPort"] in ports for each in of_kind("Service") for port in each["spec"]["ports"])
    templates = of_kind("StatefulSet")[0]["spec"]["volumeClaimTemplates"]
    volumes = {each["name"] for each in pod()["volumes"]} | {each["metadata"]["name"] for each in templates}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    assert of_kind("StatefulSet")[0]["spec"]["serviceName"] in {each["metadata"]["name"] for each in of_kind("Service")}


def test_the_collector_takes_its_configuration_and_fits_its_disk(tmp_path: Any) -> None:
    """The ConfigMap is a configuration; queues fit the claim, draining fits the grace period."""
    text = of_kind("ConfigMap")[0]["data"]["collector.toml"]
    file = tmp_path / "collector.toml"
    file.write_text(text, "utf-8")
    settings = configure({}, file=str(file), environ={}).collector
    claim = of_kind("StatefulSet")[0]["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"]
    assert settings.max_disk_bytes < int(claim.removesuffix("Gi")) * 2**30
    assert settings.drain_timeout < pod()["terminationGracePeriodSeconds"]
    assert tomllib.loads(text)["collector"]["data_dir"] == pod()["containers"][0]["volumeMounts"][0]["mountPath"]
