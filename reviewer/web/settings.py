"""How the web app is served: address, database, model servers, proxy and backups, as given on the command line."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from agent.cli.command import CannotRun
from agent.language import tr
from reviewer.web.access import is_own
from reviewer.web.proxies import ProxyLogin, path_of

_PUBLIC = re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/(?!\.{1,2}(/|$))[A-Za-z0-9._~@%-]+)*/?")


@dataclass(frozen=True)
class ServerSettings:
    """Settings of one start of the app.

    :param servers: a file of the model servers to use; None: ``servers.toml`` next to the database
    :param server: the address of the model server that is called "spec-o3"
    :param public: ``https://...``, the address of a TLS proxy in front of the app, which may have a path: its
        forwarded headers are trusted, and requests for any other name are refused
    :param backups: the folder of the daily backups; None: none are made
    :param login: how the proxy names the people who signed in there; None: it does not
    :param import_from: folders of this machine whose files coordinators may import by path
    """

    database: Path
    host: str = "127.0.0.1"
    port: int = 7860
    open_browser: bool = True
    servers: Path | None = None
    server: str | None = None
    public: str | None = None
    backups: Path | None = None
    import_from: tuple[Path, ...] = ()
    login: ProxyLogin | None = None

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}/"

    @property
    def local(self) -> bool:
        """Whether only this machine can reach the app."""
        return is_loopback(self.host) and self.public is None

    def check(self) -> None:
        """Check the settings.

        :raises CannotRun: the proxy's address cannot be used, the port is taken, or a folder does not exist
        """
        for folder in self.import_from:
            if not folder.is_dir():
                raise CannotRun(
                    tr(
                        "--import-from: found no folder {folder}, expected one whose files may be imported",
                        folder=folder,
                    )
                )
        if self.public is not None and not _PUBLIC.fullmatch(self.public):
            raise CannotRun(
                tr(
                    "--behind: found {public!r:.80}, expected an https address, e.g. https://review.example.org or "
                    "https://example.org/review/",
                    public=self.public,
                )
            )
        first = path_of(self.public).partition("/")[2].partition("/")[0]
        if is_own(first):
            raise CannotRun(
                tr(
                    "--behind: found a path that begins with /{first}/, which the app uses itself; expected another "
                    "one, e.g. /review/",
                    first=first,
                )
            )
        if self.login is not None and self.public is None:
            raise CannotRun(
                tr("--proxy-login-header: expected --behind URL too, the address of the proxy that signs people in")
            )
        require_free(self.host, self.port)


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def require_free(host: str, port: int) -> None:
    """Check that the port is free. :raises CannotRun: it is used, or this machine lacks the address"""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            # As uvicorn does: a port whose last server has just stopped is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise CannotRun(
            tr(
                "cannot serve on {host}:{port} ({strerror}). If this app is already running there, open "
                "http://{host}:{port}/; otherwise choose another port: --port {port2}.",
                host=host,
                port=port,
                strerror=error.strerror,
                port2=port + 1 if port < 65535 else port - 1,
            )
        ) from error
