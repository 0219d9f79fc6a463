"""Beams, from edges to what fell: debouncing, the bank of all inputs, order across sources, narrowing."""
