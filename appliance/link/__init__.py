"""The serial link to a board, without any I/O; docs/protocol.md is its page for implementers."""
