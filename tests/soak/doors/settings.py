"""Small files that people write: lists of spectra with labels, tasks, servers, a training's settings."""

from __future__ import annotations

from pathlib import Path

from agent.batch.labels import Labels, LabelsError
from agent.batch.sources import SourceError, files
from agent.policies.servers import RosterError
from agent.policies.servers import read as read_servers
from agent.tasks import TaskError
from agent.tasks.files import FOLDER
from agent.tasks.files import read as read_task
from tests.soak.doors.samples import MOST_SPECTRA
from tests.soak.mutations import spoiled_text
from tests.soak.trying import Door, Try, refused_by
from training.settings import SettingsError
from training.settings import read as read_settings
from training.sft import SftSettings


def label_tables() -> list[bytes]:
    return [
        b"file,label,task,snr\nspectrum.fits,YES,cv,3.5\nb.fits,NO,cc,\n",
        b"\xef\xbb\xbfpath;target;label\na.fits;1;1\na.fits;2;0\n",
        b'name\tlabel\n"a""b.fits"\ttrue\n',
        b"file,target\nspectrum.fits,\nspectrum.fits,1\n",
        b"# a list\nspectrum.fits\nb.fits\n",
    ]


def task_files() -> list[bytes]:
    return [path.read_bytes().replace(b'key = "', b'key = "my_') for path in sorted(FOLDER.glob("*.toml"))]


def server_files() -> list[bytes]:
    one = '[[server]]\nkey = "mine"\nurl = "http://127.0.0.1:8000/v1"\nmodel = "m"\n'
    one += "temperature = 0.5\nmax_tokens = 500\n"
    return [
        one.encode(),
        (one + one.replace("mine", "other") + 'dialect = "native"\napi_key_env = "KEY"\n').encode(),
    ]


def settings_files() -> list[bytes]:
    configs = sorted((Path(__file__).resolve().parents[3] / "training" / "configs").glob("sft*.yaml"))
    return [path.read_bytes() for path in configs]


def _labels(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        path = folder / "labels.csv"
        path.write_bytes(data)
        with refused_by(LabelsError, where=folder):
            labels = Labels.read(path, lambda name: name == "cv" if name in ("cv", "cc") else None)
            for name in [*labels.unused][:20]:
                labels.of(name)

    return attempt


def _sources(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        path = folder / "list.csv"
        path.write_bytes(data)
        with refused_by(SourceError, where=folder):
            for number, source in enumerate(files([f"@{path}"], folder)):
                if number < MOST_SPECTRA and source.path.is_relative_to(folder):
                    source.key.encode("utf-8", "surrogateescape")

    return attempt


def _task_file(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        path = folder / "mine.toml"
        path.write_bytes(data)
        with refused_by(TaskError, where=folder):
            task = read_task(path)
            assert task.prompt
            assert task.guide

    return attempt


def _servers(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        path = folder / "servers.toml"
        path.write_bytes(data)
        with refused_by(RosterError, where=folder):
            read_servers(path)

    return attempt


def _settings(folder: Path) -> Try:
    def attempt(data: bytes) -> None:
        path = folder / "run.yaml"
        path.write_bytes(data)
        with refused_by(SettingsError, where=folder):
            read_settings(path, SftSettings)

    return attempt


DOORS = (
    Door("labels", _labels, label_tables, spoiled_text),
    Door("sources", _sources, label_tables, spoiled_text),
    Door("task", _task_file, task_files, spoiled_text),
    Door("servers", _servers, server_files, spoiled_text),
    Door("settings", _settings, settings_files, spoiled_text),
)
