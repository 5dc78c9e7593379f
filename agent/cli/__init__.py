"""The agent's commands of the ``spec-o3`` program, one module each, imported when they are needed.

``doctor`` is declared in ``reviewer.cli``, which adds the checks of the database.
"""

from agent.cli.command import lazy

COMMANDS = (
    lazy("inspect", "Inspect many spectra with a policy, and rank the candidates.", "agent.cli.inspect"),
    lazy("serve", "Serve a model with vLLM on this machine's GPU.", "agent.cli.serve"),
    lazy("simulate", "Write labelled simulated spectra as files of a survey.", "agent.cli.simulate"),
    lazy("templates", "List template spectra, rank them against a spectrum, build your own.", "agent.cli.templates"),
)
