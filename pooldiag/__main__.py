"""`python -m pooldiag`: the same as the command `pooldiag`."""

from pooldiag.cli import main

if __name__ == "__main__":
    main()
