"""What the commands that run a target share: flags, decisions, wiring, the live view, an earlier report, the plan."""
