"""The server object of the official SDK (mcp 2.3): what a client sees of ``agent.mcp.tools``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agent.mcp.desk import Desk, Spectra

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import Server

NAME = "spec-o3"


def server(
    desk: Desk, spectra: Spectra, person: Callable[[ServerRequestContext[Any, Any]], str | None] = lambda context: None
) -> Server[Any]:
    """Return a server, for one client over stdio or for many over Streamable HTTP (``streamable_http_app``).

    :param person: the initials of who calls, from the request, e.g. of its token; None without accounts. Each person,
        and each session of the transport, has handles of its own.
    :raises McpError: the extra ``mcp`` is not installed
    """
    raise NotImplementedError
