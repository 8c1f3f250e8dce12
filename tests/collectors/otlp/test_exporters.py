"""Unchanged standard exporters in all their encodings: the spans are delivered with their scores."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter

from rag_otel import semconv
from testkit.collector import SCORE, Backend, CollectorProcess
from testkit.otlp_requests import ANSWER, CHUNK, QUESTION
from testkit.polling import eventually
from testkit.programs import program

pytestmark = pytest.mark.server


PACKAGES = (
    "@opentelemetry/api@1.9.0",
    "@opentelemetry/sdk-trace-base@2.0.0",
    "@opentelemetry/exporter-trace-otlp-http@0.200.0",
    "@opentelemetry/exporter-trace-otlp-grpc@0.200.0",
)
SCRIPT = """
const { BasicTracerProvider, SimpleSpanProcessor } = require('@opentelemetry/sdk-trace-base');
const { trace, context } = require('@opentelemetry/api');
const [form, url, texts] = [process.argv[2], process.argv[3], JSON.parse(process.argv[4])];
const { OTLPTraceExporter } = require(`@opentelemetry/exporter-trace-otlp-${form}`);
const exporter = new OTLPTraceExporter({ url, compression: form === 'http' ? 'gzip' : 'none' });
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = provider.getTracer('openinference.instrumentation.langchain');
const root = tracer.startSpan(texts.name, { attributes: texts.root });
tracer.startSpan('retrieve', { attributes: texts.retriever }, trace.setSpan(context.active(), root)).end();
root.end();
provider.forceFlush().then(() => provider.shutdown());
"""
ROOT = {
    semconv.SPAN_KIND: semconv.KIND_CHAIN,
    semconv.INPUT_VALUE: QUESTION,
    semconv.OUTPUT_VALUE: ANSWER,
}
RETRIEVER = {
    semconv.SPAN_KIND: semconv.KIND_RETRIEVER,
    f"{semconv.DOCUMENTS}.0.{semconv.DOCUMENT_CONTENT}": CHUNK,
}


def send(exporter: SpanExporter, name: str) -> None:
    """Sends a RAG trace with the SDK and one exporter."""
    provider = TracerProvider(resource=Resource({semconv.SERVICE_NAME: "shop"}))
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("openinference.instrumentation.langchain")
    with tracer.start_as_current_span(name, attributes=ROOT):
        tracer.start_span("retrieve", attributes=RETRIEVER).end()
    provider.shutdown()


def assert_scored(backend: Backend, name: str) -> None:
    (attributes,) = eventually(lambda: backend.attributes(name))
    assert attributes[SCORE] == 1.0
    assert attributes[semconv.STATUS] == "evaluated"
    assert attributes[semconv.INPUT_VALUE] == QUESTION


@pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip])
def test_python_over_http(collector: CollectorProcess, backend: Backend, compression: Compression) -> None:
    """Protobuf over HTTP, plain and gzip."""
    name = f"python http {compression.value}"
    send(HttpExporter(endpoint=f"{collector.http_address}/v1/traces", compression=compression), name)
    assert_scored(backend, name)


@pytest.mark.parametrize("compressed", [False, True])
def test_python_over_grpc(collector: CollectorProcess, backend: Backend, compressed: bool) -> None:
    """gRPC, plain and gzip."""
    import grpc

    compression = grpc.Compression.Gzip if compressed else grpc.Compression.NoCompression
    name = f"python grpc {compressed}"
    send(GrpcExporter(endpoint=collector.grpc_address, insecure=True, compression=compression), name)
    assert_scored(backend, name)


@pytest.fixture(scope="session")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The JavaScript exporters from npm, and the script that uses them."""
    program("npm")
    folder = tmp_path_factory.mktemp("node")
    (folder / "send.js").write_text(SCRIPT)
    command = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--prefix", str(folder), *PACKAGES]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return folder


@pytest.mark.parametrize("form", ["http", "grpc"])
def test_javascript(collector: CollectorProcess, backend: Backend, node_modules: Path, form: str) -> None:
    """JSON over HTTP with gzip, and gRPC, as the JavaScript SDK sends them."""
    url = f"{collector.http_address}/v1/traces" if form == "http" else f"http://{collector.grpc_address}"
    name = f"javascript {form}"
    texts = json.dumps({"name": name, "root": ROOT, "retriever": RETRIEVER})
    subprocess.run(["node", "send.js", form, url, texts], check=True, cwd=node_modules, timeout=60)
    assert_scored(backend, name)
