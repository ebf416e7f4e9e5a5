"""Which earlier cases make the victim red: bisection and posterior search over a probe function; pure."""
