"""What stands beside the daemon, for whoever installs or mends a table: doctor, record, watch, calibrate."""
