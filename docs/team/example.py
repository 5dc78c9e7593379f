"""Comment on noisy items that wait for you, then export: SPEC_O3_TOKEN=so3_... python example.py https://HOST"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path

SERVER, TOKEN = sys.argv[1].rstrip("/"), os.environ["SPEC_O3_TOKEN"]


def call(method, path, body=None):
    sent = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(SERVER + path, sent, headers, method=method)) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        sys.exit(f"{method} {path}: {json.load(error)['error']}")


me, last = json.loads(call("GET", "/api/v1/me"))["initials"], 0
while rows := json.loads(call("GET", f"/api/v1/queue?mine=true&after={last}&limit=200"))["rows"]:
    last = rows[-1]["id"]
    for noisy in (row["id"] for row in rows if row["snr"] is not None and row["snr"] < 10):
        key = str(uuid.uuid5(uuid.NAMESPACE_URL, f"noisy {me} {noisy}"))  # run twice, it is one comment
        call("POST", f"/api/v1/item/{noisy}/comments", {"text": "S/N below 10: check the continuum.", "key": key})
        print(f"commented on item {noisy}")
name = time.strftime("approved-%Y%m%dT%H%M%S")
status = json.loads(call("POST", "/api/v1/exports", {"name": name}))
while status["state"] == "running":
    time.sleep(1)
    status = json.loads(call("GET", "/api/v1/exports/status"))
if status["state"] == "failed":
    sys.exit(f"no export: {status['error']}")
Path(f"{name}.zip").write_bytes(call("GET", f"/api/v1/exports/{status['export']}/zip"))
print(f"wrote {name}.zip")
