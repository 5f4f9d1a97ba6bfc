"""How plugins are found, loaded and held apart; the built-in ones themselves lie in ``plaidwork.plugins``."""
