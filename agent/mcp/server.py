"""The server object of the official SDK (mcp 2.3): what a client sees of ``agent.mcp.tools``.

The SDK's low-level server is used: its other one checks arguments against types first, and so answers a wrong call in
its own words, and as ``list[float]`` it changes every window that a model writes.
"""

from __future__ import annotations

import base64
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any

from agent.language import tr
from agent.mcp.desk import Client, Desk, McpError, Spectra
from agent.text import one_line

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

    Context = ServerRequestContext[Any, Any]

NAME = "spec-o3"
GUIDE = "spec-o3://tasks/"
"""Address of a task's guide, before its key."""
INSTRUCTIONS = (
    "These tools show and measure the spectrum of one astronomical object, so that you can decide whether it is of a "
    "class. Call queue for the tasks and the spectra that wait, and queue with a task for its guide: what to look for "
    "and what looks alike. Open a spectrum with open_spectrum, then zoom into each feature that the guide names with "
    "spectral_visualization_tool, and measure what is faint. Each call needs your reasoning, because people review "
    "every step of it. End with submit_verdict: YES or NO with the evidence, which becomes a draft that people check."
)
_NO_CLIENT = "unnamed client"


def server(
    desk: Desk, spectra: Spectra, known: Callable[[Client, Context], Client] = lambda client, _: client
) -> Server[Any]:
    """Return a server, for one client over stdio or for many over Streamable HTTP (``streamable_http_app``).

    Each run of the server, and each person in it, has handles of its own.

    :param known: completes a client by what its request tells of it, e.g. the person of its token
    :raises McpError: the extra ``mcp`` is not installed
    """
    try:
        from anyio import to_thread
        from mcp import types
        from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID, client_supports_apps
        from mcp.server.lowlevel import Server
        from mcp.shared.exceptions import MCPError
    except ImportError as error:
        raise McpError(tr('found no mcp, which serves agents; expected: pip install "spec-o3[mcp]"')) from error
    # Reading and drawing need numpy and matplotlib, which the help of the command does not wait for.
    from agent.mcp import app
    from agent.mcp.inspection import Handles
    from agent.mcp.tools import DESCRIPTIONS, INTERACTIVE, ToolAnswer, Tools

    tools = Tools(desk, spectra)

    @asynccontextmanager
    async def lifespan(_: Server[Any]) -> AsyncIterator[Handles]:
        yield Handles()

    def refused(message: str) -> MCPError:
        return MCPError(types.INVALID_PARAMS, message)

    async def list_tools(context: Context, _: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=each.name,
                    title=each.title,
                    description=each.description,
                    input_schema=dict(each.schema),
                    annotations=types.ToolAnnotations(
                        read_only_hint=each.only_reads, destructive_hint=False, open_world_hint=False
                    ),
                    _meta={"ui": {"resourceUri": app.URI}} if each.name in INTERACTIVE else None,
                )
                for each in DESCRIPTIONS
            ]
        )

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in {each.name for each in DESCRIPTIONS}:
            raise refused(f"Unknown tool: {one_line(params.name, 60)}")
        handles: Handles = context.lifespan_context
        call = partial(tools.call, params.name, params.arguments or {}, known(_client(context), context), handles)
        meta = None
        try:
            answer = await to_thread.run_sync(call)
            if answer.numbers is not None and client_supports_apps(context):
                meta = {app.META: await to_thread.run_sync(answer.numbers)}
        except Exception:
            # The SDK would answer without a result, which clients do not show to the model.
            logging.getLogger(__name__).exception("internal error in %s", params.name)
            answer = ToolAnswer("Error: internal error of the server; its log has the details.", ok=False)
        content: list[types.ContentBlock] = [types.TextContent(text=answer.text)]
        if answer.picture is not None:
            data = base64.b64encode(answer.picture).decode()
            content.append(types.ImageContent(data=data, mime_type="image/png"))
        return types.CallToolResult(content=content, is_error=not answer.ok, _meta=meta)

    async def list_resources(context: Context, _: Any) -> types.ListResourcesResult:
        tasks = await to_thread.run_sync(desk.tasks)
        guides = [
            types.Resource(uri=f"{GUIDE}{task.key}", name=task.key, title=task.title, mime_type="text/markdown")
            for task in tasks.values()
        ]
        shown = types.Resource(uri=app.URI, name="spectrum", title="Interactive spectrum", mime_type=APP_MIME_TYPE)
        return types.ListResourcesResult(resources=[*guides, shown])

    async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        if uri == app.URI:
            # An empty policy: the page may load nothing from anywhere.
            shown = types.TextResourceContents(
                uri=uri, mime_type=APP_MIME_TYPE, text=app.page(), _meta={"ui": {"csp": {}, "prefersBorder": True}}
            )
            return types.ReadResourceResult(contents=[shown])
        task = (await to_thread.run_sync(desk.tasks)).get(uri.removeprefix(GUIDE)) if uri.startswith(GUIDE) else None
        if task is None:
            raise refused(f"Unknown resource: {one_line(uri, 60)}")
        text = types.TextResourceContents(uri=uri, mime_type="text/markdown", text=task.prompt)
        return types.ReadResourceResult(contents=[text])

    served = Server(
        NAME,
        version=metadata.version("spec-o3"),
        title="Spec-o3",
        instructions=INSTRUCTIONS,
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )
    served.extensions[EXTENSION_ID] = {"mimeTypes": [APP_MIME_TYPE]}
    return served


def _client(context: Context) -> Client:
    params = context.session.client_params
    info = None if params is None else params.client_info
    name, version = ("", "") if info is None else (one_line(info.name, 60), one_line(info.version, 60))
    return Client(name or _NO_CLIENT, version)
