"""A model loaded into this process with transformers."""
