"""The bench: a policy answers every question of a test set; scores, their uncertainty, and its failures."""
