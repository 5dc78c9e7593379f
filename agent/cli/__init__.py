"""The agent's commands of the ``spec-o3`` program, one module each.

They import what they need when they run, so that ``--help`` does not wait for matplotlib or a server.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from agent.cli import doctor, inspect, serve, simulate
from agent.cli.command import Command

if TYPE_CHECKING:
    from agent.doctor import Check


def commands(doctor_checks: Mapping[str, Check]) -> tuple[Command, ...]:
    """Return the commands.

    :param doctor_checks: further checks that ``doctor`` runs, by capability
    """
    return (
        Command("inspect", "Inspect many spectra with a policy, and rank the candidates.", inspect.add, inspect.run),
        Command("serve", "Serve a model with vLLM on this machine's GPU.", serve.add, serve.run),
        Command(
            "doctor",
            "Check what works on this machine, what is missing, and which command installs it.",
            doctor.add,
            partial(doctor.run, extra_checks=doctor_checks),
        ),
        Command("simulate", "Write labelled simulated spectra as files of a survey.", simulate.add, simulate.run),
    )
