"""``spec-o3 mcp``: the spectrum tools for an agent of your own, over the Model Context Protocol on stdin and stdout."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from pathlib import Path

from agent.cli.command import DONE
from agent.cli.options import existing_folder, option
from reviewer.cli.common import Database, database_of, opened


@dataclass(kw_only=True)
class Options(Database):
    root: list[Path] = option(
        "folder with survey files that the agent may open; repeatable (default: the current folder)",
        default=[],
        metavar="DIR",
        repeat=True,
        read=existing_folder,
    )
    app_url: str = option("the app's address, for a link to each submitted item", default="", metavar="URL")


def run(arguments: Options) -> int:
    import anyio

    from agent.mcp.roots import Roots
    from agent.mcp.server import server
    from reviewer.drafting.from_agents import AgentDesk

    database = database_of(arguments)
    desk = AgentDesk(database, lambda: opened(database), arguments.app_url)
    served = server(desk, Roots(arguments.root or [Path()], elsewhere=desk))

    async def serve() -> None:
        from mcp.server.stdio import stdio_server

        # It also keeps everything else that is written to stdout off the protocol.
        async with stdio_server() as (reading, writing):
            await served.run(reading, writing, served.create_initialization_options())

    # A read of stdin cannot be interrupted, so Ctrl-C would wait for it. A verdict is one transaction.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        anyio.run(serve)
    except* BrokenPipeError:
        pass  # the client has gone
    return DONE
