"""``spec-o3 app``: the web app."""

from __future__ import annotations

import gc
from argparse import ArgumentParser, Namespace
from pathlib import Path

from agent.cli.command import DONE, CannotRun, existing_folder, port_number
from agent.language import tr
from reviewer.cli.common import add_database, database_of


def add(parser: ArgumentParser) -> None:
    add_database(parser)
    parser.add_argument("--host", default="127.0.0.1", help=tr("address to serve on (127.0.0.1: this machine only)"))
    parser.add_argument("--port", type=port_number, default=7860, help=tr("port to serve on (7860)"))
    parser.add_argument(
        "--behind",
        metavar="URL",
        help=tr("the https address of a proxy on this machine through which people reach the app (docs/access.md)"),
    )
    parser.add_argument(
        "--proxy-login-header",
        metavar="NAME",
        help=tr(
            "the header in which that proxy names the person who signed in there, e.g. X-Forwarded-Email; by default "
            "no header signs anybody in (docs/access.md)"
        ),
    )
    parser.add_argument(
        "--proxy-login-from",
        metavar="ADDRESS",
        help=tr(
            "addresses or networks of that proxy, with commas between (127.0.0.1,::1); from any other address a "
            "request with the header is refused"
        ),
    )
    parser.add_argument(
        "--proxy-login-only", action="store_true", help=tr("accept no passwords: everybody signs in through the proxy")
    )
    parser.add_argument("--server", metavar="URL", help=tr("address of the model server (http://127.0.0.1:8000/v1)"))
    parser.add_argument(
        "--servers", type=Path, metavar="FILE", help=tr("list of model servers (servers.toml next to the database)")
    )
    backups = parser.add_mutually_exclusive_group()
    backups.add_argument(
        "--backups", type=Path, metavar="FOLDER", help=tr("folder of the daily backups (backups next to the database)")
    )
    backups.add_argument("--no-backups", action="store_true", help=tr("make no daily backups"))
    parser.add_argument(
        "--import-from",
        type=existing_folder,
        action="append",
        default=[],
        metavar="FOLDER",
        help=tr("let coordinators import files in this folder by their path, without an upload; may be repeated"),
    )
    parser.add_argument("--no-browser", action="store_true", help=tr("do not open a browser window"))


def run(arguments: Namespace) -> int:
    # Importing makes a third of a million objects that stay. The garbage collector would search them again and
    # again, a quarter of the processor time of a start; serve() turns it on before the first request.
    gc.disable()
    try:
        return _serve(arguments)
    finally:
        gc.enable()


def _serve(arguments: Namespace) -> int:
    from agent.database_place import PlaceError, make_folder
    from reviewer.backup.backups import default_folder
    from reviewer.server import serve
    from reviewer.store import StoreError
    from reviewer.web.proxies import ProxyLogin
    from reviewer.web.settings import ServerSettings

    header, addresses, only = arguments.proxy_login_header, arguments.proxy_login_from, arguments.proxy_login_only
    if header is None and (addresses is not None or only):
        raise CannotRun(tr("--proxy-login-from and --proxy-login-only: expected --proxy-login-header NAME too"))
    database = database_of(arguments)
    try:
        make_folder(database)
    except PlaceError as error:
        raise CannotRun(str(error)) from error
    settings = ServerSettings(
        database=database,
        host=arguments.host,
        port=arguments.port,
        open_browser=not arguments.no_browser,
        servers=arguments.servers,
        server=arguments.server,
        public=arguments.behind,
        backups=None if arguments.no_backups else arguments.backups or default_folder(database),
        import_from=tuple(arguments.import_from),
        login=None if header is None else ProxyLogin.parse(header, addresses, only),
    )
    try:
        serve(settings)
    except (StoreError, OSError) as error:
        raise CannotRun(str(error)) from error
    return DONE
