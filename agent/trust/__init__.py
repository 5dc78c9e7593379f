"""Stated error bounds: the probability of YES, certificates and the tests that suspend them."""
