"""The mechanisms: what is at fault in a target, what it means, and what to do first. A fact names one; arms do not."""

from pooldiag.model.attributions import Mechanism

MECHANISMS: tuple[Mechanism, ...] = (
    Mechanism(
        id="cross-device-reuse",
        title="block reuse across devices",
        meaning="the pool handed a block that one device's allocator made to a buffer of another device",
        advice="Put the device into the key of the pool's free list, and let a pool refuse a foreign backend.",
    ),
    Mechanism(
        id="stale-read",
        title="read of stale scratch",
        meaning="a buffer is read before it is written, and a recycled block holds what its last owner left",
        advice="Find the scratch buffer that is read before its first write: poison-n shows the value that it reads.",
        leaves_open=("which buffer is read before it is written",),
    ),
    Mechanism(
        id="stale-read-in-case",
        title="read of stale scratch, of the same case or a fixture",
        meaning="a buffer is read before it is written, and holds what the same case, or a fixture, left there",
        advice="Find the scratch buffer that is read before its first write: poison-n shows the value that it reads.",
        leaves_open=("which buffer is read before it is written",),
    ),
    Mechanism(
        id="stream-race",
        title="block reuse across streams",
        meaning="a block is handed out again while work on another stream still uses it",
        advice="Record an event when a block is freed, and wait for it before the block is handed to another stream.",
        leaves_open=("which two streams share the block",),
    ),
    Mechanism(
        id="timing-race",
        title="timing race, not the pool",
        meaning="the outcome depends on the order of asynchronous work, and serial launches remove it",
        advice="Look for a missing synchronisation between launches, copies and the host.",
        leaves_open=("which two operations race",),
    ),
    Mechanism(
        id="use-after-release",
        title="use after release",
        meaning="memory is used after its release; the pool keeps it mapped, or has handed it out again",
        advice="Find the use after the release. Do not bypass the pool as a cure: the access stays.",
        leaves_open=("which buffer is used after its release",),
    ),
    Mechanism(
        id="access-past-end",
        title="access past the end of a block",
        meaning="code reads or writes beyond its block, into what lies behind it",
        advice="Check the extents of the victim's kernels and copies; under a guard the access itself faults.",
        leaves_open=("which access is out of bounds",),
    ),
    Mechanism(
        id="class-slack",
        title="read past the end into size-class slack",
        meaning="code reads beyond the size it asked for, into the rounding of the block's size class",
        advice="Check the extents of the victim's kernels and copies; with exact sizes a memory checker sees it.",
        leaves_open=("which access is out of bounds",),
    ),
    Mechanism(
        id="two-owners",
        title="one block with two owners",
        meaning="the pool hands one block to two buffers at a time",
        advice="Look for a block that is released twice, and for a free list that threads share without a lock.",
        leaves_open=("which two buffers share the block",),
    ),
    Mechanism(
        id="memory-kept",
        title="memory that the pool keeps",
        meaning="the pool keeps blocks that fit no request, and the memory runs out",
        advice="Let the pool give its blocks back, and try again, before it reports that memory is out.",
    ),
    Mechanism(
        id="pool-state",
        title="the pool's own state",
        meaning="what is tested, or goes wrong, is the pool itself: its counters, its free list, its limits",
        advice="Look at what the victim expects of the pool; it may have to start with a pool of its own.",
    ),
    Mechanism(
        id="case-state",
        title="state between cases, outside the pool",
        meaning="an earlier case leaves state that no pool holds (a static, a file, a device setting)",
        advice="Leave the pool alone; look for globals, files and settings that the victim shares with earlier cases.",
    ),
    Mechanism(
        id="independent",
        title="independent of every arm",
        meaning="the red is there whatever the allocator does, and no earlier case is needed for it: a plain bug",
        advice="Debug the victim alone. If it is green in another order, it needs a case that runs before it.",
        leaves_open=("where the bug is, or which case would have to run before the victim",),
    ),
)
"""In the order in which they are listed where nothing orders them. `MECHANISM_OF` says which variants each one has."""
