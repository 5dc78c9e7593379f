"""The nano model: a Qwen2.5-VL of a few million parameters, trained from random weights on simulated spectra alone.

``docs/nano.md`` describes it: data, stages, what it can do and what not.
"""
