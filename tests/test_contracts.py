"""The names that other programs may import, as docs and DESIGN.md promise them."""

from __future__ import annotations

import dataclasses
import importlib
import inspect

import pytest

from agent.spectrum import SeveralSpectra, SpectrumError
from agent.trajectory import Trajectory

CONTRACTS = {
    "agent.spectrum": {"read": ("path", "target"), "read_all": ("path",), "Spectrum": None},
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


@pytest.mark.parametrize("module", CONTRACTS)
def test_contract_names_import_and_take_these_parameters(module: str) -> None:
    for name, expected in CONTRACTS[module].items():
        value = getattr(importlib.import_module(module), name)
        if expected is not None:
            parameters = inspect.signature(value).parameters
            assert tuple(parameters)[: len(expected)] == expected
            for (of_module, of_name, parameter), default in DEFAULTS.items():
                assert (of_module, of_name) != (module, name) or parameters[parameter].default == default


@pytest.mark.parametrize(("module", "name"), FIELDS)
def test_contract_record_is_frozen_and_has_these_fields(module: str, name: str) -> None:
    record = getattr(importlib.import_module(module), name)
    fields = {field.name for field in dataclasses.fields(record)} if dataclasses.is_dataclass(record) else set()
    assert [field for field in FIELDS[module, name] if not hasattr(record, field) and field not in fields] == []
    if fields:
        assert record.__dataclass_params__.frozen


def test_trajectory_has_its_methods_and_spectrum_errors_one_base_class() -> None:
    assert [method for method in METHODS if not callable(getattr(Trajectory, method, None))] == []
    assert issubclass(SeveralSpectra, SpectrumError)
