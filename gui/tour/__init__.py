"""Five steps through the program for who has never used it; they stand below everything and cover nothing."""

from plaidwork.gui.tour.tour import Tour, first_tour, take_tour

__all__ = ["Tour", "first_tour", "take_tour"]
