"""Watching a run: live traces, progress of the chains, diagnostics, settings."""
