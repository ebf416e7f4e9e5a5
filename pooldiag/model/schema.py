"""What every report for machines says that it is."""

SCHEMA = "pooldiag.report/1"
