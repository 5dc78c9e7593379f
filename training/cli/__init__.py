"""The training commands of the ``spec-o3`` program, one module each.

They import what they need when they run, so that ``--help`` does not wait for torch.
"""

from agent.cli.command import Command

COMMANDS = (
    Command("sft", "Teach a model what reviewers approved: the cold start.", "training.cli.sft"),
    Command("grpo", "Learn from labels alone: inspect, score the answers, learn (GRPO).", "training.cli.grpo"),
    Command(
        "bench",
        "Score a policy on a test set; runs and specialists in one table.",
        "training.cli.bench",
        subcommands=(
            Command(
                "table", "Put runs, specialists and the published figures in one table.", "training.cli.bench_table"
            ),
            Command("build", "Make a benchmark from spectra and a label table.", "training.cli.bench_build"),
        ),
    ),
    Command(
        "specialist",
        "Train a small 1-D network for a class, or classify with it.",
        subcommands=(
            Command("train", "Train one on labelled spectra.", "training.cli.specialist"),
            Command("predict", "Classify labelled spectra.", "training.cli.specialist"),
        ),
    ),
    Command(
        "model",
        "Model card of a finished run; a folder for the Hugging Face hub.",
        subcommands=(
            Command("card", "Write or renew the model card, README.md.", "training.cli.model"),
            Command(
                "push",
                "Prepare and check a repository folder for the Hugging Face hub. Nothing is uploaded.",
                "training.cli.model",
            ),
        ),
    ),
    Command(
        "miniature", "Repeat both training stages on a small model and simulated spectra.", "training.cli.miniature"
    ),
    Command("nano", "Train the nano model from random weights on simulated spectra.", "training.cli.nano"),
)
