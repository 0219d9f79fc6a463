"""The pages: a small server, a relay to the broker, and the static files themselves."""
