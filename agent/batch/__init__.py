"""Many spectra: what to inspect, in threads or processes, kept so that any end can be gone on from."""
