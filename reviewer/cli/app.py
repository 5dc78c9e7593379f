"""``spec-o3 app``: the web app."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from agent.cli.command import DONE, CannotRun
from reviewer.cli.common import DATABASE, add_database


def add(parser: ArgumentParser) -> None:
    add_database(parser)
    parser.add_argument("--host", default="127.0.0.1", help="address to serve on (127.0.0.1: this machine only)")
    parser.add_argument("--port", type=int, default=7860, help="port to serve on (7860)")
    parser.add_argument(
        "--behind",
        metavar="URL",
        help="people reach it at this https address, through a proxy on this machine (docs/access.md)",
    )
    parser.add_argument("--server", metavar="URL", help="the model server to ask (http://127.0.0.1:8000/v1)")
    parser.add_argument(
        "--servers", type=Path, metavar="FILE", help="model servers to ask (servers.toml beside the database)"
    )
    keeping = parser.add_mutually_exclusive_group()
    keeping.add_argument(
        "--backups",
        type=Path,
        metavar="FOLDER",
        help="where the daily backups go (backups beside the database)",
    )
    keeping.add_argument("--no-backups", action="store_true", help="make no daily backups")
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser window")


def run(arguments: Namespace) -> int:
    from reviewer import ui
    from reviewer.backup.backups import default_folder
    from reviewer.store import StoreError

    database = arguments.db or DATABASE
    backups = None if arguments.no_backups else arguments.backups or default_folder(database)
    try:
        ui.serve(
            database,
            arguments.host,
            arguments.port,
            not arguments.no_browser,
            arguments.servers,
            arguments.server,
            arguments.behind,
            backups,
        )
    except (StoreError, OSError) as error:
        raise CannotRun(str(error)) from error
    return DONE
