"""Sets of keys, results folders, catalogues and plans."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agent.batch import keys as keys_module
from agent.batch.catalogue import chunks_from, is_url, local_file
from agent.batch.keys import Keys, hashes_of, key_hash, of_sample
from agent.batch.plan import make_plan
from agent.batch.shards import Shards
from agent.batch.sources import SourceError, sources_from
from agent.json_lines import JournalError


def line(file: str, target: str = "", sample: int = 0) -> bytes:
    row = {"source": {"file": file, "target": target}, "sample": sample, "text": "Hα" * 20}
    return (json.dumps(row, ensure_ascii=False) + "\n").encode()


def add(results: Shards, file: str, sample: int = 0) -> bool:
    return results.add(file, sample, line(file, sample=sample))


class TestKeys:
    def test_agrees_with_a_python_set(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(keys_module, "_LARGEST", 100)
        monkeypatch.setattr(keys_module, "_SMALLEST", 7)
        chance, plain, keys = random.Random(1), set[str](), Keys()
        for _ in range(60):
            names = [f"spec-{chance.randrange(400)}.fits" for _ in range(chance.randrange(12))]
            new = keys.add_many(hashes_of(names))
            expected = [name not in plain and name not in names[:place] for place, name in enumerate(names)]
            assert new.tolist() == expected
            plain |= set(names)
            one = f"spec-{chance.randrange(400)}.fits"
            assert (key_hash(one, 0) in keys) == (one in plain)
            if one not in plain:
                keys.add(key_hash(one, 0))
                plain.add(one)
            assert len(keys) == len(plain)
        asked = [f"spec-{number}.fits" for number in range(450)]
        assert keys.contains(hashes_of(asked)).tolist() == [name in plain for name in asked]

    def test_the_samples_of_a_spectrum_are_different_keys(self) -> None:
        hashes = hashes_of(["a", "b"])
        keys = {tuple(row) for sample in range(500) for row in of_sample(hashes, sample).tolist()}
        assert len(keys) == 1000
        assert key_hash("b", 3) in keys

    def test_equal_second_halves_are_told_apart_by_the_first(self) -> None:
        keys = Keys()
        keys.add_many(np.array([[1, 5], [2, 5], [3, 5]], np.uint64))
        assert keys.contains(np.array([[3, 5], [4, 5], [1, 5], [1, 6]], np.uint64)).tolist() == [
            True,
            False,
            True,
            False,
        ]


class TestShards:
    def test_what_is_recorded_is_done_after_opening_again(self, tmp_path: Path) -> None:
        with Shards(tmp_path / "results", {"task": "cv"}) as results:
            assert add(results, "a.fits")
            assert add(results, "a.fits", 1)
            assert not add(results, "a.fits", 1)
            results.add_targets("coadd.fits", "", ["1", "2"])
            results.add_failure("b.fits", 0, line("b.fits"))
        with Shards(tmp_path / "results", {"task": "cv"}) as results:
            assert key_hash("a.fits", 1) in results.done
            assert key_hash("b.fits", 0) not in results.done
            assert results.targets_of("coadd.fits", "") == ["1", "2"]
            assert results.targets_of("coadd.fits", "spectype=STAR") is None
            assert results.failed == 1
            assert add(results, "b.fits")
            assert results.failed == 0
            assert not add(results, "a.fits")
        assert not (tmp_path / "results" / "failed.jsonl").exists()
        assert [path.name for path in sorted((tmp_path / "results" / "traces").iterdir())] == [
            "000001.index",
            "000001.jsonl",
            "000002.index",
            "000002.jsonl",
        ]

    @pytest.mark.parametrize(
        "damage", ["no index", "short index", "torn index", "zeros in index", "partial line", "index ahead"]
    )
    def test_an_index_that_does_not_fit_is_put_right(self, tmp_path: Path, damage: str) -> None:
        folder = tmp_path / "results"
        with Shards(folder, {}) as results:
            for number in range(200):
                add(results, f"spec-{number}.fits")
        shard, index = folder / "traces" / "000001.jsonl", folder / "traces" / "000001.index"
        content, entries = shard.read_bytes(), index.read_bytes()
        lost = set[int]()
        match damage:
            case "no index":
                index.unlink()
            case "short index":
                index.write_bytes(entries[: 32 * 130])
            case "torn index":
                index.write_bytes(entries[:-5])
            case "zeros in index":
                index.write_bytes(entries[: 32 * 130] + bytes(32 * 70))
            case "partial line":
                shard.write_bytes(content + b'{"source"')
            case "index ahead":
                shard.write_bytes(b"".join(content.splitlines(keepends=True)[:-3]))
                lost = {197, 198, 199}
        with Shards(folder, {}) as results:
            done = [key_hash(f"spec-{number}.fits", 0) in results.done for number in range(200)]
            assert done == [number not in lost for number in range(200)]
        assert index.read_bytes() == entries[: len(entries) - 32 * len(lost)]
        assert shard.read_bytes() == b"".join(content.splitlines(keepends=True)[: 200 - len(lost)])

    def test_other_settings_other_folders_and_a_second_writer_are_refused(self, tmp_path: Path) -> None:
        with Shards(tmp_path / "results", {"task": "cv"}) as results:
            add(results, "a.fits")
            with pytest.raises(JournalError, match="another run is writing"):
                Shards(tmp_path / "results", {"task": "cv"})
        with pytest.raises(JournalError, match="task was 'cv', is 'carbon'"):
            Shards(tmp_path / "results", {"task": "carbon"})
        (tmp_path / "notes").mkdir()
        (tmp_path / "notes" / "thesis.txt").touch()
        for content in (None, '{"schema": "notes/1"}', "no JSON"):
            if content is not None:
                (tmp_path / "notes" / "run.json").write_text(content)
            with pytest.raises(JournalError, match="a folder with other files"):
                Shards(tmp_path / "notes", {})
            assert {path.name for path in (tmp_path / "notes").iterdir()} <= {"thesis.txt", "run.json"}

    def test_a_folder_without_results_takes_other_settings(self, tmp_path: Path) -> None:
        """A first command that could not begin, or was killed, must not decide about the second."""
        Shards(tmp_path / "results", {"task": "cv"}).close()
        Shards(tmp_path / "results", {"task": "carbon"}).close()
        (tmp_path / "results" / "run.json").rename(tmp_path / "results" / ".run.json.123.part")
        (tmp_path / "results" / "samples").unlink()
        with Shards(tmp_path / "results", {"task": "cv"}) as results:
            add(results, "a.fits")
        with pytest.raises(JournalError, match="task was 'cv', is 'carbon'"):
            Shards(tmp_path / "results", {"task": "carbon"})

    def test_targets_follow_a_line_that_was_cut(self, tmp_path: Path) -> None:
        with Shards(tmp_path / "results", {}) as results:
            results.add_targets("one.fits", "", ["1", "2"])
        with (tmp_path / "results" / "targets.jsonl").open("a") as file:
            file.write('{"file": "two.fits", "selec')
        with Shards(tmp_path / "results", {}) as results:
            results.add_targets("two.fits", "", ["3"])
            assert results.targets_of("one.fits", "") == ["1", "2"]
            assert results.targets_of("two.fits", "") == ["3"]

    def test_shards_of_two_runs_in_one_folder_are_refused(self, tmp_path: Path) -> None:
        with Shards(tmp_path / "results", {}) as results:
            add(results, "a.fits")
        traces = tmp_path / "results" / "traces"
        shutil.copy(traces / "000001.jsonl", traces / "000002.jsonl")
        with pytest.raises(JournalError, match="a sample twice"):
            Shards(tmp_path / "results", {})

    def test_nothing_that_was_recorded_is_lost_by_sigkill(self, tmp_path: Path) -> None:
        code = f"""
            import sys
            from pathlib import Path
            from agent.batch.shards import Shards
            from tests.agent.batch.test_shards import add
            with Shards(Path({str(tmp_path / "results")!r}), {{}}) as results:
                number = 0
                while True:
                    if add(results, f"spec-{{number}}.fits"):
                        print(number, flush=True)
                    number += 1
        """
        acknowledged = set[int]()
        for kill in range(4):
            with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE) as child:
                assert child.stdout is not None
                for _ in range(150 + 37 * kill):
                    acknowledged.add(int(child.stdout.readline()))
                child.kill()
        with Shards(tmp_path / "results", {}) as results:
            assert all(key_hash(f"spec-{number}.fits", 0) in results.done for number in acknowledged)
            assert len(results.done) == sum(
                len(path.read_bytes().splitlines()) for path in (tmp_path / "results" / "traces").glob("*.jsonl")
            )


class TestCatalogue:
    def test_names_are_those_of_a_results_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Both engines name a spectrum alike, so that their lines are the same."""
        base = tmp_path / "out"
        base.mkdir()
        monkeypatch.chdir(tmp_path)
        for name in ("spectra/one/a.dat", "spectra/two/b.dat", "spectra/c.dat"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("4000 1\n5000 2\n6000 1\n")
        (tmp_path / "spectra" / "list.csv").write_text("path;target\none/a.dat;\nspectra/two/b.dat;7\n\n")
        (tmp_path / "plain.txt").write_text(f"# a comment\nspectra/c.dat\n{tmp_path}/spectra/one/a.dat\n")
        pq.write_table(
            pa.table({"Path": ["one/a.dat", str(tmp_path / "spectra/two/b.dat")], "target": pa.array([None, 3])}),
            tmp_path / "spectra" / "cat.parquet",
        )
        for given in (
            "spectra/one",
            "spectra/c.dat",
            "spectra/list.csv",
            "@plain.txt",
            "spectra/cat.parquet",
            "spectra",
        ):
            expected = [(source.file, source.target) for source in sources_from([given], base)]
            found = [pair for c in chunks_from([given], base) for pair in zip(c.files, c.targets, strict=True)]
            assert list(dict.fromkeys(found)) == expected, given
        assert ("../spectra/one/a.dat", "") in found

    def test_a_missing_file_does_not_decide_where_the_others_are(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "sky").mkdir()
        (tmp_path / "lists").mkdir()
        (tmp_path / "sky" / "there.dat").touch()
        (tmp_path / "lists" / "run.txt").write_text("sky/missing.dat\nsky/there.dat\nsky/missing-too.dat\n")
        (chunk,) = chunks_from(["@lists/run.txt"], tmp_path)
        assert chunk.files == ["lists/sky/missing.dat", "sky/there.dat", "sky/missing-too.dat"]

    def test_parts_of_a_hats_catalogue(self, tmp_path: Path) -> None:
        part = tmp_path / "hats" / "dataset" / "Norder=1" / "Dir=0"
        part.mkdir(parents=True)
        for pixel in (44, 45):
            rows = pa.table({"file": [f"{pixel}-{number}.fits" for number in range(3)], "ra": [1.0, 2.0, 3.0]})
            pq.write_table(rows, part / f"Npix={pixel}.parquet")
        pq.write_metadata(rows.schema, tmp_path / "hats" / "dataset" / "_metadata")
        pq.write_table(rows.slice(0, 1), tmp_path / "hats" / "dataset" / "data_thumbnail.parquet")
        (tmp_path / "hats" / "hats.properties").write_text("obs_collection=small\n")
        skipped: list[str] = []
        (chunk,) = chunks_from([str(tmp_path / "hats")], tmp_path, on_skip=lambda path, _: skipped.append(path.name))
        assert [file.rpartition("/")[2] for file in chunk.files] == [
            f"{p}-{n}.fits" for p in (44, 45) for n in range(3)
        ]
        assert sorted(skipped) == ["_metadata", "data_thumbnail.parquet", "hats.properties"]

    def test_spectra_behind_an_address(self, tmp_path: Path) -> None:
        for name in ("sky/a.dat", "sky/deep/b.dat.gz", "sky/readme.md"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("4000 1\n5000 2\n")
        pq.write_table(pa.table({"file": ["a.dat", "memory://other/c.dat"]}), tmp_path / "sky" / "cat.parquet")
        address = f"file://{tmp_path}/sky"
        assert is_url(address)
        (chunk,) = chunks_from([address], tmp_path)
        assert chunk.files == [
            f"{address}/a.dat",
            f"{address}/a.dat",
            "memory://other/c.dat",
            f"{address}/deep/b.dat.gz",
        ]
        with local_file(chunk.files[0], tmp_path) as path:
            assert path.name == "a.dat"
            assert path.read_text() == "4000 1\n5000 2\n"
            assert path.parent != tmp_path / "sky"
        assert not path.exists()
        with pytest.raises(SourceError, match="no such file or folder"):
            list(chunks_from([f"{address}/none"], tmp_path))
        with pytest.raises(SourceError, match=r"memory://other/c\.dat"), local_file(chunk.files[2], tmp_path):
            pass

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("rows.csv", b"file,target\n,3\n", "line 2: file: found nothing, expected the path"),
            ("text.txt", b"file\n\xff\xfe\n", "no text"),
        ],
    )
    def test_a_list_that_cannot_be_read_is_refused(self, tmp_path, name, content, message):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(SourceError, match=message):
            list(chunks_from([f"@{tmp_path / name}"], tmp_path))


class TestPlan:
    @staticmethod
    def catalogue(tmp_path: Path, files: list[str]) -> list[str]:
        pq.write_table(pa.table({"file": files}), tmp_path / "cat.parquet")
        return [str(tmp_path / "cat.parquet")]

    @staticmethod
    def rows(plan: Path) -> list[tuple[str, str, list[int]]]:
        tables = [pq.read_table(path).to_pylist() for path in sorted(plan.glob("*.parquet"))]
        return [(row["file"], row["target"], row["samples"]) for table in tables for row in table]

    def test_what_is_lacking_is_planned_once(self, tmp_path: Path) -> None:
        given = self.catalogue(tmp_path, ["a.fits", "b.fits", "a.fits", "coadd.fits", "c.fits", "d.fits"])
        with Shards(tmp_path / "results", {}) as results:
            for file, sample in (("a.fits", 0), ("a.fits", 1), ("b.fits", 1), ("coadd.fits#11", 0)):
                add(results, file, sample)
            results.add_targets("coadd.fits", "", ["11", "12"])
            plan = make_plan(
                chunks_from(given, tmp_path),
                results,
                2,
                is_left_out=lambda hashes: (hashes == hashes_of(["d.fits"])).all(1),
            )
            assert self.rows(plan.folder) == [
                ("b.fits", "", [0]),
                ("coadd.fits", "11", [1]),
                ("coadd.fits", "12", [0, 1]),
                ("c.fits", "", [0, 1]),
            ]
            assert (plan.rows, plan.samples, plan.done, plan.repeated) == (4, 6, 1, 1)

    def test_a_limit_counts_the_spectra_of_files_with_several(self, tmp_path: Path) -> None:
        rows = {"wavelength": [[4000.0, 5000.0, 6000.0]] * 3, "flux": [[1.0, 2.0, 1.0]] * 3}
        pq.write_table(pa.table(rows), tmp_path / "several.parquet")
        (tmp_path / "z.dat").write_text("4000 1\n5000 2\n6000 1\n")
        given = [str(tmp_path / "several.parquet"), str(tmp_path / "z.dat")]
        with Shards(tmp_path / "results", {}) as results:
            plan = make_plan(chunks_from(given, tmp_path), results, 1, limit=2)
            assert self.rows(plan.folder) == [("several.parquet", "0", [0]), ("several.parquet", "1", [0])]
            add(results, "several.parquet#0")
            plan = make_plan(chunks_from(given, tmp_path), results, 1, limit=4)
            assert [row[:2] for row in self.rows(plan.folder)] == [
                ("several.parquet", "1"),
                ("several.parquet", "2"),
                ("z.dat", ""),
            ]
