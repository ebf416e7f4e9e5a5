"""The mechanisms that a diagnosis tells apart: one row each, what every role shows if this is the cause."""

from itertools import zip_longest

from pooldiag.model.arms import Role
from pooldiag.model.attributions import Mechanism, Prediction
from pooldiag.model.readings import SignatureKind


def predictions_of(letters: str) -> dict[Role, Prediction]:
    """Read `R G R ...` as one prediction a role, in the order of `Role`; of roles beyond its end it says nothing."""
    row = zip_longest(Role, letters.split(), fillvalue=Prediction.ANYTHING)
    return {Role(role): Prediction(letter) for role, letter in row}


MECHANISMS: tuple[Mechanism, ...] = (
    Mechanism(
        id="cross-device-reuse",
        title="block reuse across devices",
        meaning="the pool handed a block that one device's allocator made to a buffer of another device",
        advice="Put the device into the key of the pool's free list, and let a pool refuse a foreign backend.",
        open_to_bisection=("which earlier case left the block: bisect the order",),
        predictions=predictions_of("R G R G G R R G"),
    ),
    Mechanism(
        id="stale-read",
        title="read of stale scratch",
        meaning="a buffer is read before it is written, and a recycled block holds what its last owner left",
        advice="Find the scratch buffer that is read before its first write: poison-n shows the value that it reads.",
        leaves_open=("which buffer is read before it is written",),
        predictions=predictions_of("R G R G R G R G"),
    ),
    Mechanism(
        id="stream-race",
        title="block reuse across streams",
        meaning="a block is handed out again while work on another stream still uses it",
        advice="Record an event when a block is freed, and wait for it before the block is handed to another stream.",
        leaves_open=("which two streams share the block",),
        predictions=predictions_of("R G R o G R G o"),
    ),
    Mechanism(
        id="class-slack",
        title="read past the end into size-class slack",
        meaning="code reads beyond the size it asked for, into the rounding of the block's size class",
        advice="Check the extents of the victim's kernels and copies; with exact sizes a memory checker sees it.",
        leaves_open=("which access is out of bounds",),
        predictions=predictions_of("R G G G R G R G"),
    ),
    Mechanism(
        id="in-case-reuse",
        title="block reuse within one case",
        meaning="a block freed in the victim itself is handed out again in the same case while it is still used",
        advice="Look for a buffer of the victim that is used after its release, or for two owners of one block.",
        leaves_open=(
            "which two buffers of the victim share the block",
            "whether a race on the host is hidden by the slower bypass",
        ),
        predictions=predictions_of("R G R R G R R R"),
    ),
    Mechanism(
        id="case-state",
        title="state between cases, outside the pool",
        meaning="an earlier case leaves state that no pool holds (a static, a file, a device setting)",
        advice="Leave the pool alone; look for globals, files and settings that the victim shares with earlier cases.",
        open_to_bisection=("which earlier case leaves the state: bisect the order",),
        predictions=predictions_of("R R R R R R R G"),
    ),
    Mechanism(
        id="timing-race",
        title="timing race, not the pool",
        meaning="the outcome depends on the order of asynchronous work, and serial launches remove it",
        advice="Look for a missing synchronisation between launches, copies and the host.",
        leaves_open=("which two operations race",),
        predictions=predictions_of("R o o R o o G o"),
    ),
    Mechanism(
        id="independent",
        title="independent of every arm",
        meaning="the red is there whatever the allocator does, and no earlier case is needed for it: a plain bug",
        advice="Debug the victim alone. If it is green in another order, it needs a case that runs before it.",
        leaves_open=("where the bug is, or which case would have to run before the victim",),
        needs=(Role.BYPASS,),
        predictions=predictions_of("R R R R R R R R"),
    ),
    Mechanism(
        id="hidden-use-after-free",
        title="use after free that the pool hides",
        meaning="memory is used after its release; the pool keeps it mapped, so nothing is seen until the pool is gone",
        advice="Find the use after the release. Do not bypass the pool as a cure: that is what turns it red.",
        leaves_open=("which buffer is used after its release",),
        unless=(SignatureKind.FAILURE,),
        alternative="an assertion that fails without the pool can also test the pool itself, its counters or its speed:"
        " leave such a case out with --case and run again",
        predictions=predictions_of("G N G G N G G G"),
    ),
    Mechanism(
        id="hidden-stale-read",
        title="uninitialised read that the pool hides",
        meaning="a buffer is read before it is written, and the content it happens to get lets the suite pass",
        advice="Find the buffer that is read before its first write: poison-n shows the value that it reads.",
        leaves_open=("which buffer is read before it is written",),
        predictions=predictions_of("G G G G N G G G"),
    ),
)
"""Measured on a model pool without a GPU, but for in-case-reuse, timing-race and hidden-stale-read: reasoned."""
