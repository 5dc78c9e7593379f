"""The reviewers' commands of the ``spec-o3`` program, one module each.

They import what they need when they run: ``--help`` is not to wait for matplotlib and gradio.
"""

from agent.command import Command
from agent.looks import look_also
from reviewer.commands import app, backup, blind, draft, export_, import_, log, looks, restore

look_also("database", looks.database)

COMMANDS: tuple[Command, ...] = (
    Command("app", "Start the web app: review, revise, audit and vote in the browser.", app.add, app.run),
    Command("draft", "Let a policy inspect spectra, and keep what it wrote as drafts.", draft.add, draft.run),
    Command(
        "import",
        "Bring drafts in: our JSON lines, or ShareGPT rows with their pictures.",
        import_.add,
        import_.run,
    ),
    Command("export", "Write approved trajectories as training data.", export_.add, export_.run),
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
        restore.add,
        restore.run,
    ),
    Command("log", "Show who did what when, and check that nothing of it was changed.", log.add, log.run),
)
