"""A small web page that holds the spectrum view and nothing else, served on loopback."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from reviewer.ui import spectrum_view

HERE = Path(__file__).parent
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".json": "application/json"}


@contextmanager
def served(items: Mapping[str, Any]) -> Iterator[str]:
    """The address of the page; ``items`` are offered to it as ``showItem(name)``."""
    static = Path(spectrum_view.__file__).parent / "static"
    folders = {"ui": static, "plotly": spectrum_view.PLOTLY_FOLDER, "page": HERE}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            folder, _, name = self.path.lstrip("/").partition("/")
            if folder == "items" and (item := items.get(name.removesuffix(".json"))):
                body = json.dumps(item).encode()
            elif folder in folders and (file := folders[folder] / name).is_file():
                body = file.read_bytes()
            else:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", TYPES.get(Path(name).suffix, "application/octet-stream"))
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/page/spectrum_view_page.html"
    finally:
        server.shutdown()
        server.server_close()
