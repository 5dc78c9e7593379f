"""Model judges for blind scoring."""
