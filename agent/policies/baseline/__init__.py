"""The measuring baseline: a rule without a model."""
