"""Annotations of our items in Label Studio: tasks for them, and their answers as comments."""
