"""What goes wrong, as the user is told it: one line for the problem, one for what to do."""

from pooldiag.cli.streams import complain
from pooldiag.errors import PooldiagError
from pooldiag.render import visible


def tell(error: PooldiagError) -> None:
    """Print a problem and its hint on stderr; text from outside cannot move the cursor."""
    complain(f"pooldiag: {visible(error.problem)}\n")
    if error.hint is not None:
        complain(f"  {visible(error.hint)}\n")
