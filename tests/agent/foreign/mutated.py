"""Read and convert mutated logs in a process whose audit hook sees every file opened and every connection.

``python -m tests.agent.foreign.mutated FOLDER NUMBER SEED``: each log below FOLDER is changed NUMBER times. The answer,
one line of JSON, has what was read, refused, and what went wrong.
"""

import copy
import io
import json
import random
import sys
import traceback
import zipfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from agent import tool
from agent.foreign import FORMATS, ForeignTraceError, read
from agent.foreign.inspect_log import _member as member_value
from agent.foreign.sessions import inspections
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from tests.agent.foreign.generated import converter
from tests.agent.foreign.turns import an_example

HOSTILE: list[Any] = [
    *(
        "../../../../etc/passwd",
        "/etc/passwd",
        "file:///etc/passwd",
        "http://127.0.0.1:9/x.png",
        "images/../../x",
        "\0",
    ),
    *("\ud800", "a" * 5000, "", "[6500, 6600]", "<think>", "\\boxed{YES}", "{{7*7}}", "$(touch x)", "handle: h1"),
    *(None, True, -1, 0, 1e308, float("nan"), 10**30, 2**63, [], {}, [[]], {"a": {}}, [None], {"": 0}),
]


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if levels % 2 else {"a": value}
    return value


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a JSON value with each of its keys."""
    all_places, open_values = [], [value]
    while open_values:
        inner = open_values.pop()
        keys = list(inner) if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else ()
        all_places += [(inner, key) for key in keys]
        open_values += [inner[key] for key in keys]
    return all_places


def changed_json(data: bytes, rng: random.Random) -> bytes:
    lines = data.decode().split("\n") if _is_lines(data) else [data.decode()]
    number = rng.randrange(len(lines))
    if not lines[number].strip():
        return data
    value = copy.deepcopy(json.loads(lines[number]))
    for _ in range(rng.choice([1, 1, 2, 5])):
        if not (all_places := places(value)):
            break
        container, key = rng.choice(all_places)
        match rng.randrange(6):
            case 0 if isinstance(container, dict):
                container.pop(key, None)
            case 1 if isinstance(container, list):
                container.insert(0, copy.deepcopy(rng.choice(container)) if container else 0)
            case 2:
                container[key] = deep(rng.choice([25, 26, 300, 950]))
            case 3:
                other, other_key = rng.choice(all_places)
                container[key] = copy.deepcopy(other[other_key]) if rng.random() < 0.9 else other_key
            case _:
                container[key] = copy.deepcopy(rng.choice(HOSTILE))  # a later change must not change the list
    lines[number] = json.dumps(value)
    return "\n".join(lines).encode()


def _is_lines(data: bytes) -> bool:
    try:
        json.loads(data)
        return False
    except ValueError:
        return True


def changed_bytes(data: bytes, rng: random.Random) -> bytes:
    mutable = bytearray(data)
    for _ in range(rng.choice([1, 1, 3, 20])):
        at = rng.randrange(len(mutable) or 1)
        match rng.randrange(4):
            case 0 if mutable:
                mutable[at] = rng.randrange(256)
            case 1:
                del mutable[at : at + rng.choice([1, 10, 1000])]
            case 2:
                mutable[at:at] = rng.choice([b"[" * 100_000, b"\0", b'{"a":', b"\xff\xfe", b"}", b"1" * 5000, b"NaN"])
            case _:
                mutable[at:at] = mutable[: rng.choice([1, 50, 500])]
    return bytes(mutable)


@lru_cache(1)
def members_of(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        values = {member.filename: member_value(Path("log"), archive, member) for member in archive.infolist()}
    return {name: json.dumps(value).encode() for name, value in values.items()}


def changed_archive(data: bytes, rng: random.Random) -> bytes:
    """A log of Inspect of which a member is changed: bytes of the archive itself are damage to every reader."""
    changed = rng.choice(sorted(members_of(data)))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members_of(data).items():
            change = changed_json if rng.random() < 0.8 else changed_bytes
            archive.writestr(name, change(content, rng) if name == changed else content)
    return file.getvalue()


def remembered(draw: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the tool that draws what it has drawn once: the pictures take nine tenths of a run."""
    drawn: dict[str, Any] = {}

    def of(spectrum: Spectrum, *arguments: Any) -> Any:
        key = repr((spectrum.sha256, spectrum.redshift, arguments))
        if key not in drawn:
            if len(drawn) > 300:  # 5 MB each
                drawn.clear()
            drawn[key] = draw(spectrum, *arguments)
        return drawn[key]

    return of


def run(folder: Path, number: int, seed: int) -> dict[str, Any]:
    tool.call, tool.overview = remembered(tool.call), remembered(tool.overview)  # type: ignore[assignment]
    logs = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".png"]
    convert = converter(*(an_example(n)[1] for n in range(5)), task="cv").convert
    for name in FORMATS:  # what is imported, and read for it, once
        for path in logs:
            try:
                for trace in read(path, name):
                    convert(trace)
            except ForeignTraceError:
                pass
    outside: list[str] = []
    root = str(folder.resolve())

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str | bytes):
            path = arguments[0] if isinstance(arguments[0], str) else arguments[0].decode(errors="replace")
            if not str(Path(path).absolute()).startswith(root) and not path.endswith((".py", ".pyc")):
                outside.append(path)
        elif event.startswith("socket.") or event in ("subprocess.Popen", "os.system", "urllib.Request", "exec.file"):
            outside.append(event)

    sys.addaudithook(hook)
    rng = random.Random(seed)
    counts = {"traces": 0, "trajectories": 0, "refused": 0}
    wrong: list[str] = []
    for path in logs:
        data = path.read_bytes()
        change_parts = changed_archive if data.startswith(b"PK") else changed_json
        mutant = path.with_name(f"mutant{path.suffix}")
        for _ in range(number):
            change = change_parts if rng.random() < 0.7 else changed_bytes
            try:
                mutant.write_bytes(change(data, rng))
            except (RecursionError, ValueError):  # of the mutation itself: a deep value within another or itself
                continue
            try:
                for trace in read(mutant, rng.choice([None, None, path.parent.name])):
                    counts["traces"] += 1
                    for part in inspections(trace):
                        row = convert(part).trajectory.to_json()
                        assert Trajectory.from_json(json.loads(json.dumps(row, allow_nan=False))).to_json() == row
                        json.dumps(row, ensure_ascii=False).encode()
                        counts["trajectories"] += 1
            except ForeignTraceError:
                counts["refused"] += 1
            except Exception:
                wrong.append(f"{path.parent.name}: {traceback.format_exc(limit=-4)}")
        mutant.unlink()
    return counts | {"wrong": wrong[:5], "outside": sorted(set(outside))[:20]}


if __name__ == "__main__":
    print(json.dumps(run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
