"""HTTP routes, one module per desk."""
