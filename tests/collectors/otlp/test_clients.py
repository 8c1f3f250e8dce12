"""Authentication, certificates and settings of the collector."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import subprocess
import urllib.request
from pathlib import Path

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter

from rag_otel.errors import ConfigurationError
from rag_otel_collectors.otlp.receivers.grpc_server import SERVICE
from rag_otel_collectors.otlp.settings import configure
from testkit.collector import a_backend, a_collector
from testkit.otlp_requests import a_rag_trace, a_request
from testkit.warm_python import warm_python
from tests.collectors.otlp.test_exporters import assert_scored, send

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """(certificate, key) for 127.0.0.1, self-signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names = x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("tls")
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(private)
    return str(folder / "cert.pem"), str(folder / "key.pem")


def test_keys_are_asked_for_over_both_protocols(tmp_path: Path) -> None:
    """Without a known key a request is rejected. Probes need no key, and keys are never printed."""
    env = {"RAG_OTEL_COLLECTOR_API_KEYS": "first-key, second-key"}
    with a_backend() as backend, a_collector(tmp_path, "--backend", backend.address, env=env) as collector:
        for metadata in ({}, {"authorization": "Bearer wrong"}, {"authorization": "first-key"}, {"x-api-key": ""}):
            with pytest.raises(grpc.RpcError) as caught:
                collector.export(a_request(*a_rag_trace()), **metadata)
            assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
        request = urllib.request.Request(f"{collector.http_address}/v1/traces", b"", method="POST")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(request, timeout=60)
        send(GrpcExporter(endpoint=collector.grpc_address, insecure=True, headers={"x-api-key": "first-key"}), "grpc")
        headers = {"Authorization": "Bearer second-key"}
        send(HttpExporter(endpoint=f"{collector.http_address}/v1/traces", headers=headers), "http")
        assert_scored(backend, "grpc")
        assert_scored(backend, "http")
        assert collector.get("/healthz")[0] == 200
        assert not any("first-key" in line for line in collector.lines)


def test_tls_over_both_protocols_and_to_a_backend(
    tmp_path: Path, certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exporters that trust the certificate can connect, and a collector can be the backend of another one."""
    cert, key = certificate
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):  # requests prefers them to what the exporter is told
        monkeypatch.delenv(name, raising=False)
    server = ("--set", f"tls_cert={cert}", "--set", f"tls_key={key}")
    with a_backend() as backend, a_collector(tmp_path / "far", "--backend", backend.address, *server) as far:
        credentials = grpc.ssl_channel_credentials(Path(cert).read_bytes())
        send(GrpcExporter(endpoint=far.grpc_address, credentials=credentials), "tls grpc")
        https = f"https://{far.http_address.removeprefix('http://')}/v1/traces"
        send(HttpExporter(endpoint=https, certificate_file=cert), "tls http")
        assert_scored(backend, "tls grpc")
        assert_scored(backend, "tls http")
        for number, endpoint in enumerate((f"grpcs://{far.grpc_address}", https)):
            config = tmp_path / f"near{number}.toml"
            config.write_text(f'[[backends]]\nendpoint = "{endpoint}"\nca_file = "{cert}"\n')
            with a_collector(tmp_path / f"near{number}", "--config", str(config)) as near:
                send(GrpcExporter(endpoint=near.grpc_address, insecure=True), f"relayed {number}")
                assert_scored(backend, f"relayed {number}")
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(https, timeout=60)


def test_only_clients_with_a_certificate_where_one_is_asked_for(tmp_path: Path, certificate: tuple[str, str]) -> None:
    """mTLS: a connection without a client certificate is rejected."""
    cert, key = certificate
    server = ("--set", f"tls_cert={cert}", "--set", f"tls_key={key}", "--set", f"tls_client_ca={cert}")
    with a_backend() as backend, a_collector(tmp_path, "--backend", backend.address, *server) as collector:
        ca, private = Path(cert).read_bytes(), Path(key).read_bytes()
        for credentials, taken in (
            (grpc.ssl_channel_credentials(ca), False),
            (grpc.ssl_channel_credentials(ca, private, ca), True),
        ):
            with grpc.secure_channel(collector.grpc_address, credentials) as channel:
                try:
                    channel.unary_unary(f"/{SERVICE}/Export")(b"", timeout=60)
                except grpc.RpcError:
                    assert not taken
                else:
                    assert taken
        url = f"https://127.0.0.1:{collector.http_port}/healthz"
        context = ssl.create_default_context(cafile=cert)
        with pytest.raises(OSError, match=r"(?i)certificate|reset|ssl|closed"):
            urllib.request.urlopen(url, timeout=60, context=context).read()
        context.load_cert_chain(cert, key)
        assert urllib.request.urlopen(url, timeout=60, context=context).read() == b"ok\n"


def collect(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [warm_python(), "-m", "rag_otel.cli.main", "collect", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_a_wrong_setting_is_said_before_anything_listens(tmp_path: Path) -> None:
    """An unknown judge is detected only by the evaluation process. The exit code is still 2, with one line."""
    arguments = ("--backend", "http://127.0.0.1:1", "--set", "judge=nobody", "--data-dir", str(tmp_path))
    done = collect("--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0", *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "nobody" in done.stderr
    assert "Traceback" not in done.stderr
    assert "receiving" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "nowhere to forward to"),
        ({"backend": "ftp://x"}, "http"),
        ({"backend": "localhost:4317"}, "grpc://"),
        ({"backend": "http://x", "idl": 3}, r"unknown setting idl \(did you mean idle\?\)"),
        ({"backend": "http://x", "worker_concurrency": 4}, r"worker_concurrency \(gone: it is always 16; workers="),
        ({"backend": "http://x", "workers": 0}, "workers"),
        ({"backend": "http://localhost:4318"}, "itself"),
        ({"backend": "grpc://127.0.0.1:5555", "grpc": "0.0.0.0:5555"}, "itself"),
        ({"backend": "http://x", "sample_ratio": 2}, "sample_ratio"),
        ({"backend": "http://x", "http": "nonsense"}, "host:port"),
        ({"backend": "http://x", "tls_cert": "a.pem"}, "tls_key"),
        ({"backend": "http://x", "headers": "nonsense"}, "name=value"),
        ({"backend": "http://x", "max_disk_bytes": 1000}, "max_disk_bytes"),
    ],
)
def test_a_wrong_setting_is_named(arguments: dict[str, object], said: str) -> None:
    """The error says what is wrong."""
    with pytest.raises(ConfigurationError, match=said):
        configure(arguments, environ={})


def test_two_collectors_do_not_share_a_folder(tmp_path: Path) -> None:
    """Two collectors on one folder would deliver each other's spans."""
    with a_backend() as backend, a_collector(tmp_path, "--backend", backend.address):
        arguments = ("--backend", backend.address, "--data-dir", str(tmp_path))
        done = collect(*arguments)
        assert done.returncode == 2
        assert "in use" in done.stderr
        # Settings can be checked all the same.
        assert collect(*arguments, "--check").returncode == 0


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    """The output lists the origin of each value. Secrets are masked."""
    file = tmp_path / "c.toml"
    file.write_text(
        '[collector]\nidle = 1\ngrace = 1\nworkers = 3\napi_keys = ["k1"]\n[evaluation]\nsample_ratio = 0.5\n'
    )
    environ = {
        "RAG_OTEL_COLLECTOR_IDLE": "2",
        "RAG_OTEL_COLLECTOR_GRACE": "2",
        "RAG_OTEL_PHOENIX_ENDPOINT": "http://p:6006",
    }
    made = configure({"idle": 3}, file=str(file), environ=environ)
    assert (made.collector.idle, made.collector.grace, made.collector.workers) == (3, 2, 3)
    assert made.evaluation.settings.sample_ratio == 0.5
    rows = {name: (value, origin) for part in made.rows().values() for name, value, origin in part}
    assert rows["idle"] == ("3.0", "argument")
    assert rows["grace"] == ("2.0", "environment RAG_OTEL_COLLECTOR_GRACE")
    assert rows["workers"] == ("3", "file")
    assert rows["api_keys"] == ("********", "file")
    assert rows["sample_ratio"] == ("0.5", "file")
    (backend,) = made.backends
    assert (backend.name, backend.endpoint) == ("phoenix", "http://p:6006/v1/traces")


@pytest.mark.parametrize(
    "content",
    [
        "[collectr]\n",
        "[collector]\nidel = 3\n",
        "not toml",
        '[[backends]]\nendpoint = "http://x"\ntimeout = 3\n',
        '[[backends]]\nendpoint = "http://x"\n[[backends]]\nname = "default"\nendpoint = "http://y"\n',
        '[[backends]]\nendpoint = "http://x"\nname = "../x"\n',
    ],
)
def test_a_wrong_file_is_told(tmp_path: Path, content: str) -> None:
    """Unknown sections, settings and values are errors."""
    file = tmp_path / "c.toml"
    file.write_text(content)
    with pytest.raises(ConfigurationError):
        configure({}, file=str(file), environ={})
