"""The training commands of the ``spec-o3`` program, one module each.

They import what they need when they run, so that ``--help`` does not wait for torch.
"""

from agent.cli.command import lazy

COMMANDS = (
    lazy("sft", "Teach a model what reviewers approved: the cold start.", "training.cli.sft"),
    lazy("grpo", "Learn from labels alone: inspect, score the answers, learn (GRPO).", "training.cli.grpo"),
    lazy("bench", "Score a policy on a test set; runs and specialists in one table.", "training.cli.bench"),
    lazy("specialist", "Train a small 1-D network for a class, or classify with it.", "training.cli.specialist"),
    lazy("model", "Model card of a finished run; a folder for the Hugging Face hub.", "training.cli.model"),
    lazy("miniature", "Repeat both training stages on a small model and simulated spectra.", "training.cli.miniature"),
    lazy("nano", "Train the nano model from random weights on simulated spectra.", "training.cli.nano"),
)
