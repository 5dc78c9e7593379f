"""Tool, reward and settings for verl, with which the published models were trained; docs/training.md has the command.

``tool.yaml`` and ``trainer.yaml`` are read by verl itself. Nothing here imports verl.
"""
