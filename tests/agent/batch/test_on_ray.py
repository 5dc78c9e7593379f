"""``spec-o3 inspect --engine ray`` on a cluster of two logical nodes: the same answers as here, and nothing lost or
doubled when parts of the run are killed."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import app
from agent import tasks
from agent.batch import on_ray
from agent.batch.candidates import Candidate, ranked
from agent.batch.journal import result_of
from agent.batch.ray_cluster import Cluster, error_text
from agent.batch.rows import RankedRows, RowMaker, rows_of
from agent.batch.run import Job, inspect_many
from agent.batch.shards import Shards
from agent.cli.stages import baseline
from agent.consensus import Limits
from agent.conversation import Stop, Usage
from agent.json_lines import json_line
from tests.agent.batch.test_cascade import TURNS
from tests.support.cli import run as run_app
from tests.support.model_server import BadServer, talking
from tests.support.ray_nodes import two_nodes, workers

ROOT = Path(__file__).resolve().parents[3]
WAVELENGTH = np.linspace(3800.0, 9000.0, 900)

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with two_nodes() as found:
        yield found


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a folder ``sky``: six files, a Parquet file of four spectra, and one that is damaged."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sky").mkdir()
    fluxes = [flux(number, 90 if number % 2 else 3) for number in range(10)]
    for number, one in enumerate(fluxes[:6]):
        rows = "\n".join(f"{wave:.2f},{value:.3f},0.04" for wave, value in zip(WAVELENGTH, one, strict=True))
        (tmp_path / "sky" / f"s{number}.csv").write_text(f"wavelength,flux,ivar\n{rows}\n", encoding="ascii")
    table = {"wave_vac": [WAVELENGTH] * 4, "flux": fluxes[6:], "ivar": [np.full(900, 0.04)] * 4, "z": [0.0] * 4}
    pq.write_table(pa.table(table), tmp_path / "sky" / "Npix=4.parquet", row_group_size=2)
    (tmp_path / "sky" / "bad.fits").write_bytes(b"SIMPLE  =  no")
    return tmp_path


def flux(number: int, height: float) -> Any:
    # Without He I the baseline leaves it to a person.
    centres = (6564.6, 4862.7, 4341.7, *((5877.2,) if number % 4 == 1 else ()))
    lines = sum(height * np.exp(-0.5 * ((WAVELENGTH - at) / 12.0) ** 2) for at in centres)
    return 100.0 + lines + np.random.default_rng(number).normal(0, 5.0, 900)


def inspect(*options: str, address: str = "", status: int = 0) -> dict[str, Any]:
    """Run the command in a process of its own; return its summary."""
    ray = ["--engine", "ray", "--address", address, "--workers", "2"] if address else []
    made = run_app("inspect", "--task", "cv", "--json", *options, *ray, cwd=Path.cwd())
    assert made.returncode == status, made.stderr
    return json.loads(made.stdout) if made.stdout else {"stderr": made.stderr}


def rows(path: Path) -> dict[tuple[str, str, int], dict[str, Any]]:
    """The rows of results without their times; every sample is there once."""
    files = sorted(path.glob("traces/*.jsonl")) if path.is_dir() else [path]
    found = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    keys = [(row["source"]["file"], row["source"]["target"], row["sample"]) for row in found]
    assert max(Counter(keys).values(), default=0) <= 1
    return {key: {name: row[name] for name in row if name != "seconds"} for key, row in zip(keys, found, strict=True)}


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return [{name: row[name] for name in row if name != "seconds"} for row in csv.DictReader(file)]


@pytest.mark.long
def test_answers_and_table_are_those_of_the_local_engine(here: Path, address: str) -> None:
    local = inspect("sky", "--out", "local.jsonl", "--table", "local.csv", status=1)
    ray = inspect("sky", "--out", "ray", "--table", "ray.csv", address=address, status=1)
    assert len(rows(here / "ray")) == 10
    assert rows(here / "ray") == rows(here / "local.jsonl")
    assert table(here / "ray.csv") == table(here / "local.csv")
    same = ("spectra", "yes", "no", "ask", "within_margin", "failed", "skipped")
    assert {name: ray[name] for name in same} == {name: local[name] for name in same}
    assert ray["failed"] == 1
    assert "bad.fits" in (here / "ray" / "failed.jsonl").read_text(encoding="utf-8")


@pytest.mark.long
def test_a_run_resumes_with_more_spectra_and_other_limits(here: Path, address: str) -> None:
    inspect("sky", "--out", "ray", "--table", "t.parquet", "--limit", "2", address=address)
    first = rows(here / "ray")
    assert len(first) == 2
    (here / "sky" / "bad.fits").unlink()
    found = inspect("sky", "--out", "ray", "--table", "t.parquet", address=address)
    assert (found["spectra"], found["this_run"]["inspected"], found["failed"]) == (10, 8, 0)
    assert {key: rows(here / "ray")[key] for key in first} == first
    before = {row["file"] + row["target"]: row["verdict"] for row in pq.read_table("t.parquet").to_pylist()}
    found = inspect("sky", "--out", "ray", "--table", "t.parquet", "--margin", "99", address=address)
    assert (found["ask"], found["this_run"]["inspected"]) == (10, 0)
    assert set(before.values()) >= {"YES", "NO"}
    inspect("sky", "--out", "ray", "--max-turns", "3", address=address, status=2)


@pytest.mark.long
def test_a_cascade_gives_the_same_table_as_here(here: Path, address: str) -> None:
    with BadServer(talking(TURNS)) as server:
        stages = ["--first", "baseline", "--then", "spec-o3", "--server", server.url]
        inspect("sky", "--out", "local.jsonl", "--table", "local.csv", "--margin", "1.5", *stages, status=1)
        inspect("sky", "--out", "ray", "--table", "ray.csv", "--margin", "1.5", *stages, address=address, status=1)
    assert {row["stage"] for row in table(here / "ray.csv")} == {"1-baseline", "2-spec-o3"}
    assert table(here / "ray.csv") == table(here / "local.csv")
    assert rows(here / "ray") == rows(here / "local.jsonl")


@pytest.mark.long
def test_nothing_is_lost_or_doubled_when_parts_of_a_run_are_killed(here: Path, address: str) -> None:
    with BadServer(talking(TURNS, delay=0.06)) as server:
        command = ["sky", "--out", "ray", "--policy", "spec-o3", "--server", server.url]
        command += ["--temperature", "0.7", "--concurrency", "4", "--samples", "8"]
        (here / "sky" / "bad.fits").unlink()
        full = [sys.executable, "-m", "app", "inspect", "--task", "cv", "--json", *command]
        full += ["--engine", "ray", "--address", address, "--workers", "2"]
        variables = os.environ | {"PYTHONPATH": str(ROOT)}
        with subprocess.Popen(full, env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as driver:
            wait_for_lines(here / "ray", 8)
            os.kill(workers()[0], signal.SIGKILL)
            wait_for_lines(here / "ray", 24)
            driver.kill()
        before = rows(here / "ray")
        assert 24 <= len(before) < 80
        found = inspect(*command, address=address)
        assert (found["spectra"], found["this_run"]["inspected"]) == (10, 80 - len(before))
        after = rows(here / "ray")
        assert len(after) == 80
        assert {key: after[key] for key in before} == before
        command[command.index("--samples") + 1] = "9"
        found = inspect(*command, "--table", "t.parquet", address=address)
    assert found["this_run"]["inspected"] == 10
    assert set(pq.read_table("t.parquet")["n"].to_pylist()) == {9}


def test_the_reason_why_ray_ended_a_run_is_one_line() -> None:
    error = RuntimeError("The actor died:\nTraceback (most recent call last):\n  ...\nImportError: no module agent\n\n")
    assert error_text(error) == "RuntimeError: ImportError: no module agent"
    assert error_text(RuntimeError()) == "RuntimeError:"


@pytest.mark.long
def test_a_stopped_run_keeps_what_is_done_and_ends_quietly(here: Path, address: str) -> None:
    with BadServer(talking(TURNS, delay=0.06)) as server:
        command = [sys.executable, "-m", "app", "inspect", "--task", "cv", "sky", "--out", "ray", "--policy", "spec-o3"]
        command += ["--server", server.url, "--concurrency", "2", "--samples", "20", "--temperature", "0.7"]
        command += ["--engine", "ray", "--address", address, "--workers", "2"]
        variables = os.environ | {"PYTHONPATH": str(ROOT)}
        with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            wait_for_lines(here / "ray", 20)
            run.send_signal(signal.SIGINT)
            said, errors = run.communicate(timeout=120)
    assert 20 <= len(rows(here / "ray")) < 200
    assert "left to a person" in said
    assert "stopping; finished inspections are kept" in errors
    assert "Traceback" not in errors
    assert "Connecting to existing" not in errors


def wait_for_lines(results: Path, lines: int) -> None:
    until = time.monotonic() + 120
    while sum(path.read_bytes().count(b"\n") for path in results.glob("traces/*.jsonl")) < lines:
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize("name", ["sky/s1.csv", "file://{here}/sky/s1.csv"])
def test_a_row_that_is_made_again_has_the_spectrum_as_soon_as_it_can_be_read(here: Path, name: str) -> None:
    task, name = tasks.load()["cv"], name.format(here=here)
    (outcome,) = inspect_many([Job(name, here / "sky" / "s1.csv")], task, baseline)
    (here / "sky" / "s1.csv").rename(here / "away.csv")
    make = RowMaker(task, Limits())
    with Shards(here / "results", {}) as results:
        results.add(name, 0, json_line(result_of(outcome)).encode())
        (row,) = rows_of(results, make)
    assert (row.verdict, row.is_current) == ("ASK", False)
    assert "can no longer be read" in row.reasons or "s1.csv: FileNotFoundError" in row.reasons
    (here / "away.csv").rename(here / "sky" / "s1.csv")
    with Shards(here / "results", {}) as results:
        (row,) = rows_of(results, make)
    assert (row.file, row.is_current, row.reasons.startswith("The spectrum")) == (name, True, False)


def test_of_a_unit_that_is_delivered_twice_the_first_answers_count(tmp_path: Path) -> None:
    """In the traces, in the rows of the table and in the counts: a policy with chance answers differently each time."""

    def delivered(answer: str, *reasons: on_ray.OutcomeReason) -> on_ray._Done:
        samples = [
            on_ray._Sample(number, reason, "no answer", line(number, reason, answer), Usage(), {answer: b"PNG"})
            for number, reason in enumerate(reasons)
        ]
        return on_ray._Done("a.fits", "", tuple(samples), f'{{"answer": "{answer}"}}\n'.encode())

    def line(number: int, reason: str, answer: str) -> bytes:
        row = {"source": {"file": "a.fits", "target": ""}, "sample": number, "reason": reason, "answer": answer}
        return json.dumps(row).encode() + b"\n"

    with Shards(tmp_path / "one", {}) as results:
        run = on_ray.RayRun(results, cast("on_ray.Work", None), Cluster(1, 1, 1), Stop(), lambda _: None)
        assert run._take(delivered("first", "answered"))
        assert not run._take(delivered("second", "answered"))
        assert not run._take(delivered("third", "policy failed"))
    assert [row["answer"] for row in rows(tmp_path / "one").values()] == ["first"]
    assert [path.read_text() for path in results.row_files()] == ['{"answer": "first"}\n']
    assert (run.summary.inspected, run.summary.spectra, run.summary.failed, results.failed) == (1, 1, 0, 0)
    assert [path.name for path in (tmp_path / "one" / "traces" / "pictures").iterdir()] == ["first.png"]

    with Shards(tmp_path / "two", {}) as results:
        run = on_ray.RayRun(results, cast("on_ray.Work", None), Cluster(1, 1, 1), Stop(), lambda _: None)
        assert run._take(delivered("first", "policy failed", "policy failed"))
        assert not run._take(delivered("second", "policy failed", "policy failed"))
        assert run.summary.failed == 2
        assert run._take(delivered("third", "answered", "policy failed"))
        assert run._take(delivered("fourth", "answered", "answered"))
    assert [row["answer"] for row in rows(tmp_path / "two").values()] == ["third", "fourth"]
    # No row has these two answers; it is made from the traces.
    assert [path.read_text() for path in results.row_files()] == ['{"answer": "third"}\n']
    assert (run.summary.inspected, run.summary.failed, results.failed) == (2, 0, 0)


@pytest.mark.long
def test_a_spectrum_that_ends_its_worker_takes_no_other_with_it(here: Path, address: str) -> None:
    (here / "sky" / "s3.csv").rename(here / "sky" / "poison.csv")
    code = f"""
        import json
        from dataclasses import replace
        from pathlib import Path
        from agent import tasks
        from agent.batch import on_ray
        from agent.batch.catalogue import chunks_from
        from agent.consensus import Limits
        from agent.batch.plan import make_plan
        from agent.batch.ray_cluster import Workers, ray_cluster
        from agent.batch.rows import RowMaker
        from agent.batch.run import Plan
        from agent.batch.shards import Shards
        from agent.conversation import Stop
        from ray._private.worker import print_to_stdstream
        from tests.support.ray_nodes import ends_its_worker

        on_ray.TASK_RETRIES = 1
        task = tasks.load()["cv"]
        task = replace(task, references=dict(task.references))
        here = Path({str(here)!r})
        with Shards(here / "ray", {{}}) as results, ray_cluster(Workers({address!r}, 2)) as cluster:
            work = on_ray.Work(Plan(task, ends_its_worker), here, replace, RowMaker(task, Limits()))
            run = on_ray.RayRun(results, work, cluster, Stop(), print)
            chunks = lambda: chunks_from([str(here / "sky")], here)
            # As Ray does with messages about its processes, sometimes.
            print_to_stdstream({{"lines": ["Ray says"], "pid": "raylet", "is_err": False}}, ignore_prefix=False)
            print(run.run(lambda: make_plan(chunks(), results, 1, is_left_out=run.tried.contains)))
    """
    made = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    # Standard output is for the result.
    assert "Ray says" not in made.stdout
    assert "Ray says" in made.stderr
    assert len(rows(here / "ray")) == 9
    failed = [json.loads(line) for line in (here / "ray" / "failed.jsonl").read_text(encoding="utf-8").splitlines()]
    of_spectra = {row["source"]["file"]: row["detail"] for row in failed if row["source"]["file"] != "sky/bad.fits"}
    assert list(of_spectra) == ["sky/poison.csv"]
    assert of_spectra["sky/poison.csv"].startswith("the worker ended each time that it was given this spectrum")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--workers", "2"], "--workers has no effect without --engine ray"),
        (["--engine", "ray", "--processes", "2"], "--processes has no effect"),
        (["--engine", "ray", "--policy", "local"], "expected one behind a server"),
        (["--engine", "ray", "--first", "baseline", "--then", "local"], "expected one behind a server"),
        (["--engine", "ray", "--first", "baseline,processes=2", "--then", "spec-o3"], "--processes has no effect"),
        (["--engine", "ray", "--out", "file.jsonl"], "keeps results in a folder"),
        (["--engine", "ray", "--address", "127.0.0.1:1"], "Ray at 127.0.0.1:1: found nothing there"),
    ],
)
def test_what_cannot_run_on_ray_is_refused(here, capsys, options, message):
    (here / "file.jsonl").touch()
    assert app.main(["inspect", "sky", "--task", "cv", "--out", "results", *options]) == 2
    assert message in capsys.readouterr().err
    assert app.main(["inspect", "s3://sky", "--task", "cv", "--out", "results.jsonl"]) == 2
    assert "addresses need --engine ray" in capsys.readouterr().err


def test_ranked_rows_from_a_file_are_those_in_memory(tmp_path: Path) -> None:
    chance = random.Random(4)
    empty = {field.name: None for field in fields(Candidate)} | {"n": 1, "stage": "", "is_current": True}
    expected = [
        Candidate(
            **empty
            | {
                "verdict": chance.choice(["YES", "NO", "ASK"]),
                "file": f"s{chance.randrange(99)}",
                "target": str(number),
            }
            | {name: chance.choice([None, 0.25, -1.5, 3.0]) for name in ("lo", "score", "snr", "p_yes")}
        )
        for number in range(300)
    ]
    found = RankedRows.sorted(iter(expected), tmp_path / "table.jsonl")
    RankedRows.sorted(iter(expected[:3]), tmp_path / "table.jsonl")  # the next run, while these rows are read
    assert list(found) == ranked(expected)
    assert found[-1] == ranked(expected)[-1]
    assert list(RankedRows.sorted(iter([]), tmp_path / "none.jsonl")) == []
