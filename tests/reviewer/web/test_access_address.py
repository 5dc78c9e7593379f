"""Where the app may be served: nowhere that others can reach while nobody who works here has a password."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from agent.cli.command import CannotRun
from reviewer.store import Store
from reviewer.web import app as server

REFUSED = "can be reached by others, and nobody here has a password"
PASSWORD = "Balmer decrement"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A database with a coordinator and a reviewer, neither of whom has a password."""
    path = tmp_path / "annotations.db"
    with Store.open(path) as store:
        store.add_person("CO", "Cora", ["coordinator"])
        store.add_person("EX", "Exa", ["reviewer"])
    return path


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that the server was begun at: everything but listening itself."""
    hosts: list[str] = []
    monkeypatch.setattr(server, "_run", lambda app, host, port, **more: hosts.append(host))
    return hosts


def serve(db: Path, host: str, public: str | None = None) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    server.serve(db, host, port, open_browser=False, public=public)


EVERYWHERE = ["0.0.0.0", "::", "", socket.gethostname(), "127.0.0.1.example.org"]


@pytest.mark.parametrize("host", EVERYWHERE)
def test_an_address_that_others_reach_is_refused_without_passwords(
    db: Path, begun: list[str], host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "require_free", lambda host, port: None)  # a name need not be known here
    with pytest.raises(CannotRun, match=REFUSED):
        serve(db, host)
    assert begun == []


def test_so_is_standing_behind_a_proxy(db: Path, begun: list[str]) -> None:
    with pytest.raises(CannotRun, match=f"https://review.example.org {REFUSED}"):
        serve(db, "127.0.0.1", "https://review.example.org")
    assert begun == []


def test_a_password_of_somebody_who_has_left_does_not_count(db: Path, begun: list[str]) -> None:
    with Store.open(db) as store:
        store.set_password(None, "EX", PASSWORD)
        store.deactivate(None, "EX")
    with pytest.raises(CannotRun, match=REFUSED):
        serve(db, "0.0.0.0")
    with Store.open(db) as store:
        store.set_password(None, "CO", PASSWORD)
    serve(db, "0.0.0.0")
    assert begun == ["0.0.0.0"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.9", "localhost"])
def test_this_machine_alone_needs_none(db: Path, begun: list[str], host: str) -> None:
    serve(db, host)
    assert begun == [host]
