"""The proof in miniature: both stages of training of a very small Qwen2.5-VL on a CPU, from random weights to a model
that zooms before it answers, on simulated spectra. ``docs/training/miniature.md``: what that shows and what not.
"""
