"""Model cards of finished training runs in the form of the Hugging Face hub, and a folder to upload."""
