"""Everything with effects: real processes, the lock, the disk, files of a run, evidence folders."""
