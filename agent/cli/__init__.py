"""The agent's commands of the ``spec-o3`` program, one module each.

They import what they need when they run: ``--help`` is not to wait for matplotlib or a server.
"""

from agent.cli import doctor, inspect, serve, simulate
from agent.cli.command import Command

COMMANDS: tuple[Command, ...] = (
    Command("inspect", "Let a policy inspect many spectra, and rank the candidates.", inspect.add, inspect.run),
    Command("serve", "Serve a model with vLLM, on this machine's GPU.", serve.add, serve.run),
    Command("doctor", "Say what works here, what is missing, and what installs it.", doctor.add, doctor.run),
    Command(
        "simulate",
        "Write labelled simulated spectra, as a survey would have them.",
        simulate.add,
        simulate.run,
    ),
)
