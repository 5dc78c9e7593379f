"""HTTP routes, one module for each desk."""
