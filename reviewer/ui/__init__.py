"""The web page. The only place that imports gradio, and only when it is asked to serve."""

from __future__ import annotations

from pathlib import Path


def serve(
    db: Path,
    host: str = "127.0.0.1",
    port: int = 7860,
    open_browser: bool = True,
    servers: Path | None = None,
    server: str | None = None,
    public: str | None = None,
    backups: Path | None = None,
) -> None:
    """Serve the app until stopped; see ``reviewer.web.app.serve``."""
    from reviewer.ui.uncollected import uncollected

    with uncollected():
        from reviewer.web.app import serve as serve_app
    serve_app(db, host, port, open_browser, servers, server, public, backups)
