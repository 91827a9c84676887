"""What to train on this text, on this machine, in this time: measured before it begins."""
