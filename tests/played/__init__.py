"""A target, its framework and the world around both, in memory: what a diagnosis does is proven in milliseconds.

`suite.py` says as data what the cases do to each other, and plays one process of it. `framework.py` is how such a
target is asked, and how it reports. `world.py` holds every port of the core, and what a test may do to them: kill the
diagnosis at a moment, fill the disk, rebuild the target, interrupt a run. `commands.py` runs `attribute`, `bisect` and
`orders` in a world, as the command line would.

    world = World(PlayedSuite(cases=13, polluters="3,7"))
    report = bisect_in(world)
    assert report.found.polluters == names(3, 7)

What a real process, a real lock, a real journal and a real framework do is not proven here: `tests/execute`,
`tests/frameworks` and `tests/cli` do that.
"""
