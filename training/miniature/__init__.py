"""The proof in miniature: both stages of training on a Qwen2.5-VL so small that a CPU takes it from random
weights to a model that looks before it answers, on simulated spectra. ``docs/miniature.md`` says what that
shows and what not.
"""
