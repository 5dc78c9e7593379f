"""The agent's commands of the ``spec-o3`` program, one module each, imported when they are needed.

``doctor`` and the group ``sky`` are declared in ``reviewer.cli``, which adds what needs the database.
"""

from agent.cli.command import Command

COMMANDS = (
    Command("fetch", "Bring spectra from the archives of SDSS, DESI and SPARCL as files.", "agent.cli.fetch"),
    Command("inspect", "Inspect many spectra with a policy, and rank the candidates.", "agent.cli.inspect"),
    Command("serve", "Serve a model with vLLM on this machine's GPU.", "agent.cli.serve"),
    Command("simulate", "Write labelled simulated spectra as files of a survey.", "agent.cli.simulate"),
    Command(
        "templates",
        "List template spectra, rank them against a spectrum, build your own.",
        subcommands=(
            Command("list", "List the templates: class, name, coverage and source.", "agent.cli.templates"),
            Command(
                "rank",
                "Rank the templates by χ² against a spectrum, each with its radial velocity.",
                "agent.cli.templates",
            ),
            Command("build", "Build a template file from a folder of spectra.", "agent.cli.templates"),
        ),
    ),
)

SKY = (
    Command("fetch", "Ask catalogues what they know of the objects of spectra, and write a table.", "agent.cli.sky"),
)
"""Commands of the group ``sky``."""
