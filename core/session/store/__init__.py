"""The session file: HDF5 that other programs read, written as a whole or not at all; ``docs/session-format.md`` describes it."""
