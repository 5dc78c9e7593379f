"""Whether the address asked for can be served on, before anything else is begun."""

from __future__ import annotations

import socket

from agent.command import CannotRun


def require_free(host: str, port: int) -> None:
    """:raises CannotRun: another program has the port, or it is not this machine's to give"""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            # As uvicorn does: a port whose last server has just stopped is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise CannotRun(
            f"{host}:{port} cannot be served on ({error.strerror}). Perhaps this app runs there already: "
            f"look at http://{host}:{port}/, or give another port with --port {port + 1}."
        ) from error
