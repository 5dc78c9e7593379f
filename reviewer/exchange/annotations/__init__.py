"""Annotations of our items in Label Studio and Argilla: tasks for them, and their answers as comments."""
