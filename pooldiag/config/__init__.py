"""What the user says: options, as flags and as keys of `pooldiag.toml`."""
