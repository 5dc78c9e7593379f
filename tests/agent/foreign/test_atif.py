"""Our trajectories as ATIF: written, valid, and read back as they were."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from agent.foreign import detect, read
from agent.foreign.atif import Atif, atif_of
from agent.plot import pixels_sha256
from agent.plot.decoding import decoded
from agent.spectrum import Spectrum
from agent.trajectory import Trajectory
from tests.agent.foreign.generated import converter, inspections, pictures_of


def written(trajectory: Trajectory, spectrum: Spectrum, folder: Path) -> Path:
    """A trajectory as a file of ATIF with its pictures."""
    (folder / "images").mkdir(exist_ok=True)
    paths = {}
    for sha256, png in pictures_of(trajectory, spectrum).items():
        paths[sha256] = f"images/{sha256}.png"
        (folder / paths[sha256]).write_bytes(png)
    path = folder / "trajectory.json"
    path.write_text(json.dumps(atif_of(trajectory, paths), ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def comes_back(inspection: tuple[Trajectory, Spectrum]) -> None:
    trajectory, spectrum = inspection
    with tempfile.TemporaryDirectory() as folder:
        path = written(trajectory, spectrum, Path(folder))
        Atif.model_validate_json(path.read_text(encoding="utf-8"))
        assert detect(path) == "atif"
        (trace,) = read(path)
        back = converter(spectrum).convert(trace)
    assert back.trajectory == trajectory
    assert back.trajectory.content_hash() == trajectory.content_hash()
    not_drawn = {zoom.picture for zoom in trajectory.zooms if zoom.picture and not zoom.shows_spectrum}
    drawn = {trajectory.overview, *(zoom.picture for zoom in trajectory.zooms if zoom.shows_spectrum)}
    assert set(back.pictures) == not_drawn - drawn
    assert all(pixels_sha256(decoded("", png)) == sha256 for sha256, png in back.pictures.items())


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(inspections())
def test_a_trajectory_comes_back_as_it_was(inspection: tuple[Trajectory, Spectrum]) -> None:
    comes_back(inspection)


@pytest.mark.long
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(inspections())
def test_two_hundred_trajectories_come_back_as_they_were(inspection: tuple[Trajectory, Spectrum]) -> None:
    comes_back(inspection)
