"""Where edges come from: each source maps its own clock and delivers the values of `appliance.events`."""
