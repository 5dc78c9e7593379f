"""The reviewers' commands of the ``spec-o3`` program, one module each.

They import what they need when they run: ``--help`` is not to wait for matplotlib and gradio.
"""

from agent.cli.command import Command
from reviewer.cli import app, backup, blind, draft, exchange, log
from reviewer.cli import backup as restore

DOCTOR_CHECKS = {"database": log.database_checks}
"""Checks that ``spec-o3 doctor`` adds to the agent's own, by capability."""

COMMANDS: tuple[Command, ...] = (
    Command("app", "Start the web app: review, revise, audit and vote in the browser.", app.add, app.run),
    Command("draft", "Let a policy inspect spectra, and keep what it wrote as drafts.", draft.add, draft.run),
    Command(
        "import",
        "Bring drafts in: our JSON lines, or ShareGPT rows with their pictures.",
        exchange.add_import,
        exchange.run_import,
    ),
    Command("export", "Write approved trajectories as training data.", exchange.add_export, exchange.run_export),
    Command("blind", "Draw, open and close sessions in which traces are scored blind.", blind.add, blind.run),
    Command(
        "backup",
        "Copy the database while people work, or write it out as plain files.",
        backup.add,
        backup.run,
    ),
    Command(
        "restore",
        "Put a backup or a plain archive in the place of the database, once it is checked.",
        restore.add_restore,
        restore.run_restore,
    ),
    Command("log", "Show who did what when, and check that nothing of it was changed.", log.add, log.run),
)
