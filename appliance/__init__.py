"""Pocketbeam: a scoring appliance for carrom boards and carpetball tables."""

__version__ = "0.1.0"
