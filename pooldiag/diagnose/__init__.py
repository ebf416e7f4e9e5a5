"""Makes the plan of a diagnosis and drives it, yielding each finished run."""
