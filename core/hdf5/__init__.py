"""Our HDF5 files: written as a whole or not at all, looked through before anything is read."""
