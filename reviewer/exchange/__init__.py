"""Imports and exports of trajectories."""
