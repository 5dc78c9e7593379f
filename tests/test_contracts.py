"""The names that other programs may import, as docs and DESIGN.md promise them."""

from __future__ import annotations

import dataclasses
import importlib
import inspect

import pytest

CONTRACTS = {
    "agent.spectrum": {
        "read": ("path", "target"),
        "read_all": ("path",),
        "Spectrum": None,
        "SpectrumError": None,
        "SeveralSpectra": None,
    },
    "agent.plot": {"draw": ("wavelength", "flux", "window", "title"), "png": ("wavelength", "flux", "window", "title")},
    "agent.tool": {"call": ("spectrum", "arguments"), "Observation": None},
    "agent.trajectory": {"parse": ("text",), "Trajectory": None},
    "agent.loop": {"inspect": ("spectrum", "task", "policy", "max_turns")},
    "training.reward": {"score": ("response", "ground_truth", "alpha"), "Reward": None},
}
FIELDS = {
    ("agent.spectrum", "Spectrum"): (
        *("wavelength", "flux", "ivar", "mask", "medium", "frame", "flux_unit", "survey", "name", "ids"),
        *("ra", "dec", "redshift", "snr", "catalogue_class", "meta"),
    ),
    ("agent.tool", "Observation"): ("text", "image", "ok"),
    ("training.reward", "Reward"): ("score", "predicted", "format_ok"),
}
METHODS = ("to_json", "from_json", "to_messages", "to_sharegpt", "from_sharegpt")
DEFAULTS = {("agent.loop", "inspect", "max_turns"): 8, ("training.reward", "score", "alpha"): 0.2}


@pytest.mark.parametrize(("module", "name"), [(m, n) for m, names in CONTRACTS.items() for n in names])
def test_contract_name_imports_and_takes_these_parameters(module: str, name: str) -> None:
    found = getattr(importlib.import_module(module), name)
    expected = CONTRACTS[module][name]
    if expected is not None:
        assert tuple(inspect.signature(found).parameters)[: len(expected)] == expected


@pytest.mark.parametrize(("module", "name"), FIELDS)
def test_contract_record_is_frozen_and_has_these_fields(module: str, name: str) -> None:
    record = getattr(importlib.import_module(module), name)
    missing = [field for field in FIELDS[module, name] if not hasattr(record, field) and field not in _fields(record)]
    assert missing == []
    if dataclasses.is_dataclass(record):
        assert record.__dataclass_params__.frozen


def _fields(record: type) -> set[str]:
    return {field.name for field in dataclasses.fields(record)} if dataclasses.is_dataclass(record) else set()


def test_contract_defaults() -> None:
    for (module, function, parameter), default in DEFAULTS.items():
        found = inspect.signature(getattr(importlib.import_module(module), function)).parameters[parameter]
        assert found.default == default


def test_trajectory_has_the_methods_of_the_contract() -> None:
    from agent.trajectory import Trajectory

    assert [method for method in METHODS if not callable(getattr(Trajectory, method, None))] == []


def test_spectrum_errors_have_one_base_class() -> None:
    from agent.spectrum import SeveralSpectra, SpectrumError

    assert issubclass(SeveralSpectra, SpectrumError)
