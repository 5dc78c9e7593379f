"""Features of a task that require another one, and the measurements made for them."""

import numpy as np
import pytest

from agent.measure import Measured, Undefined
from agent.measure.roughness import roughness
from agent.spectrum import Spectrum
from agent.tasks import TaskError, load
from agent.tasks.files import FOLDER

GOOD = (FOLDER / "gm.toml").read_text(encoding="utf-8").replace('key = "gm"', 'key = "mine"')
LINE = 'requires = "TiO 7054 (TiO5)"'


def spectrum(lines: float, snr: float) -> Spectrum:
    wavelength = np.arange(3800.0, 7000.0, 1.5)
    flux = (wavelength / 5000) ** -2 * (1 - lines * np.sin(wavelength / 15))
    noise = np.random.default_rng(3).normal(0, 1 / snr, wavelength.size)
    return Spectrum(wavelength, flux * (1 + noise), (snr / flux) ** 2, name="x")


def test_the_root_of_a_feature_is_what_it_depends_on_in_the_end() -> None:
    task = load()["wd"]
    assert task.root(task.feature("He I 5876 broad (DB)")).name == "Blue continuum"
    assert task.root(task.feature("Blue continuum")).name == "Blue continuum"


@pytest.mark.parametrize(
    ("new", "found", "expected"),
    [
        ('requires = "TiO"', "'TiO'", "the name of another feature"),
        ('requires = "CaH 6385 weak (CaH1)"', "CaH 6385 weak (CaH1) → CaH 6385 weak (CaH1)", "no circle of features"),
    ],
)
def test_a_feature_may_require_only_another_feature_of_the_file(tmp_path, new, found, expected):
    assert LINE in GOOD
    (tmp_path / "mine.toml").write_text(_without_aliases(GOOD).replace(LINE, new, 1), encoding="utf-8")
    with pytest.raises(TaskError) as refused:
        load(tmp_path)
    assert refused.value.field == "feature 2 (CaH 6385 weak (CaH1)), requires"
    assert refused.value.actual == found
    assert expected in refused.value.expected


def _without_aliases(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("aliases"))


def test_roughness_is_the_rms_of_what_a_smooth_curve_leaves() -> None:
    smooth, lined = roughness(spectrum(0.0, 200), (4000, 6800)), roughness(spectrum(0.1, 200), (4000, 6800))
    assert isinstance(smooth, Measured)
    assert isinstance(lined, Measured)
    assert smooth.value < 0.003
    # A sine of amplitude 0.1 and period 94 Å, averaged over bins of 20 Å: 0.1/√2 times sinc(20/94).
    assert lined.value == pytest.approx(0.1 / np.sqrt(2) * np.sinc(20 / 94.2), rel=0.05)


def test_roughness_is_undefined_where_noise_could_hide_lines() -> None:
    found = roughness(spectrum(0.0, 4), (4000, 6800))
    assert isinstance(found, Undefined)
    assert "the noise hides lines" in found.reason


def test_the_sampling_is_that_of_the_optical_range() -> None:
    wavelength = np.concatenate([np.arange(3500.0, 9000.0, 4.0), np.arange(9000.0, 200000.0, 100.0)])
    assert Spectrum(wavelength, np.ones_like(wavelength)).sampling == 4.0
    infrared = np.arange(10000.0, 20000.0, 5.0)
    assert Spectrum(infrared, np.ones_like(infrared)).sampling == 5.0
