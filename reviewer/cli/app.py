"""``spec-o3 app``: the web app."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from pathlib import Path

from agent.cli.command import DONE, CannotRun
from agent.cli.options import HOST, existing_folder, option, port_number
from agent.cli.policy_options import SERVERS
from agent.language import tr
from reviewer.cli.common import Database, database_of


@dataclass(kw_only=True)
class Options(Database):
    host: str = option(HOST, default="127.0.0.1")
    port: int = option("port to listen on", default=7860, read=port_number)
    behind: str | None = option(
        "the https address of a proxy on this machine through which people reach the app (docs/access.md)",
        metavar="URL",
    )
    proxy_login_header: str | None = option(
        "the header in which that proxy names the person who signed in there, e.g. X-Forwarded-Email; by default "
        "no header signs anybody in (docs/access.md)",
        metavar="NAME",
    )
    proxy_login_from: str | None = option(
        "addresses or networks of that proxy, with commas between (default 127.0.0.1,::1); from any other address a "
        "request with the header is refused",
        metavar="ADDRESS",
    )
    proxy_login_only: bool = option("accept no passwords: everybody signs in through the proxy")
    server: str | None = option("address of the model server (default http://127.0.0.1:8000/v1)", metavar="URL")
    servers: Path | None = option(SERVERS)
    backups: Path | None = option(
        "folder of the daily backups (default: backups next to the database)", metavar="DIR", one_of="backups"
    )
    no_backups: bool = option("make no daily backups", one_of="backups")
    import_from: list[Path] = option(
        "let coordinators import files in this folder by their path, without an upload; may be repeated",
        metavar="DIR",
        read=existing_folder,
        repeat=True,
    )
    no_browser: bool = option("do not open a browser window")


def run(arguments: Options) -> int:
    # Importing makes a third of a million objects that stay. The garbage collector would search them again and
    # again, a quarter of the processor time of a start; serve() turns it on before the first request.
    gc.disable()
    try:
        return _serve(arguments)
    finally:
        gc.enable()


def _serve(arguments: Options) -> int:
    from agent.database_place import make_folder
    from reviewer.backup.backups import default_folder
    from reviewer.server import serve
    from reviewer.store import StoreError
    from reviewer.web.proxies import ProxyLogin
    from reviewer.web.settings import ServerSettings

    header, addresses, only = arguments.proxy_login_header, arguments.proxy_login_from, arguments.proxy_login_only
    if header is None and (addresses is not None or only):
        raise CannotRun(tr("--proxy-login-from and --proxy-login-only: expected --proxy-login-header NAME too"))
    database = database_of(arguments)
    make_folder(database)
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
