"""A simulated table: players, an umpire, a device with its microcontroller, and virtual time."""
