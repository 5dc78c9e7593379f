"""The bench: a policy is asked every question of a test set; scores, their uncertainty, and its failures."""
