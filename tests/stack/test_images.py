"""Dockerfile, compose file and the collector's configuration, as far as they can be checked without an engine."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import yaml

from testkit.warm_python import warm_python
from tests.stack.conftest import DOCKER, beside_python

ROOT = DOCKER.parent


def compose() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text("utf-8"))
    return content


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = compose()["services"]
    return found


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    """The Dockerfile's linter, with all of its rules."""
    done = run(beside_python("hadolint"), str(DOCKER / "Dockerfile"))
    assert done.returncode == 0, done.stdout


def test_hadolint_is_asked_in_earnest(tmp_path: Path) -> None:
    """An unpinned base would be found."""
    (tmp_path / "Dockerfile").write_text("FROM python:latest\n", "utf-8")
    assert "DL3007" in run(beside_python("hadolint"), str(tmp_path / "Dockerfile")).stdout


def test_images_are_pinned_and_run_without_root() -> None:
    """Every stage that is run starts from one pinned base and ends as a user with a number."""
    text = (DOCKER / "Dockerfile").read_text("utf-8")
    assert re.search(r"^ARG PYTHON=\d+\.\d+\.\d+-slim-\w+$", text, re.MULTILINE)
    stages = re.split(r"^FROM ", text, flags=re.MULTILINE)[1:]
    by_name = {re.match(r"(\S+) AS (\S+)", stage)[2]: stage for stage in stages}  # type: ignore[index]
    for name in ("phoenix", "base"):
        assert re.search(r"^USER \d+:\d+$", by_name[name], re.MULTILINE)
    for name in ("collector", "example"):
        assert by_name[name].startswith("base AS")
        assert "USER" not in by_name[name]
    for name in ("collector", "phoenix"):
        assert "HEALTHCHECK" in by_name[name]


def test_what_the_dockerfile_copies_is_there_and_not_ignored() -> None:
    """A file that moves must move in the recipe too."""
    wanted = re.findall(r"^COPY (?!--from)(.+) \S+$", (DOCKER / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    let_in = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    for source in " ".join(wanted).split():
        assert (ROOT / source).exists(), source
        assert any(source == each or source.startswith(each + "/") for each in let_in), source


def test_the_compose_file_follows_the_specification() -> None:
    """The schema of the Compose Specification, as check-jsonschema carries it."""
    done = run(
        *(sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"),
        str(DOCKER / "compose.yaml"),
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_service_is_hardened_and_bounded() -> None:
    """No root file system to write to, no capabilities, loopback ports, limits, a pinned image, a profile."""
    for name, service in services().items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert {"mem_limit", "cpus", "pids_limit"} <= set(service), name
        assert re.search(r":v?\d+\.\d+\.\d+$", service["image"]), name
        assert "all" in service["profiles"], name
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name


def test_services_wait_for_health_that_somebody_checks() -> None:
    """`service_healthy` on a service without a health check would wait for ever."""
    text = (DOCKER / "Dockerfile").read_text("utf-8")
    checked_images = {"collector", "phoenix"} if text.count("HEALTHCHECK") == 2 else set()
    everything = services()
    for name, service in everything.items():
        for other, how in service.get("depends_on", {}).items():
            assert how["required"] is False, f"{name} cannot start where the profile of {other} is off"
            if how["condition"] == "service_healthy":
                target = everything[other].get("build", {}).get("target")
                assert "healthcheck" in everything[other] or target in checked_images, other


def test_secrets_come_from_files_that_git_does_not_keep() -> None:
    """Nothing in docker/ is a secret, and every secret that is used is declared."""
    declared = compose()["secrets"]
    for service in services().values():
        assert set(service.get("secrets", [])) <= set(declared)
    for secret in declared.values():
        assert Path(secret["file"]).parent == Path("secrets")
    assert (DOCKER / "secrets" / ".gitignore").read_text("utf-8").split("\n")[1] == "*"


def test_what_compose_mounts_is_there() -> None:
    """A path that does not exist would be made as an empty folder by the engine."""
    for name, service in services().items():
        for volume in service.get("volumes", []):
            source = volume.partition(":")[0]
            assert not source.startswith(".") or (DOCKER / source).exists(), f"{name}: {volume}"


def test_parts_call_each_other_by_the_names_of_their_services() -> None:
    """A host in a configuration that is no service of compose.yaml would never answer."""
    configurations = ("collector/collector.toml", "prometheus/prometheus.yml", "alertmanager/alertmanager.yml")
    grafana = "grafana/provisioning/datasources/prometheus.yaml"
    text = "".join((DOCKER / name).read_text("utf-8") for name in (*configurations, grafana))
    hosts = set(re.findall(r"(?:http://|targets: \[)([a-z][\w-]*):\d+", text)) - {"localhost"}
    assert {"collect", "phoenix", "alertmanager", "alert-sink", "prometheus"} <= hosts
    assert hosts <= set(services())


def test_the_otel_collectors_pipeline_names_what_it_configures() -> None:
    """Its own binary has not read this file: that it is YAML and holds together is all that is known."""
    content = yaml.safe_load((DOCKER / "otel-collector" / "config.yaml").read_text("utf-8"))
    pipeline = content["service"]["pipelines"]["traces"]
    for part in ("receivers", "processors", "exporters"):
        assert pipeline[part]
        assert set(pipeline[part]) == set(content[part])
    assert content["exporters"]["loadbalancing"]["resolver"]["dns"]["hostname"] in services()


def test_the_collector_takes_the_stacks_configuration(tmp_path: Path) -> None:
    """`rag-otel collect --check` on the very file that compose mounts, and it keeps its secret."""
    secret = tmp_path / "secret"
    secret.write_text("whsec_YS1sb25nLXJhbmRvbS1zZWNyZXQtb2YtMzItYnl0ZXM=", "utf-8")
    config = DOCKER / "collector" / "collector.toml"
    done = subprocess.run(
        [
            *(warm_python(), "-m", "rag_otel.cli.main", "collect", "--check"),
            *("--config", str(config), "--data-dir", str(tmp_path)),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        env={"PATH": "", "PYTHONPATH": ":".join(sys.path), "RAG_OTEL_ALERT_WEBHOOK_SECRET_FILE": str(secret)},
    )
    assert done.returncode == 0, done.stderr
    assert "http://phoenix:6006" in done.stdout
    assert "whsec_YS1sb25nLXJhbmRvbS1zZWNyZXQtb2YtMzItYnl0ZXM=" not in done.stdout
    assert tomllib.loads(config.read_text("utf-8"))["collector"]["data_dir"] == "/var/lib/rag-otel"
