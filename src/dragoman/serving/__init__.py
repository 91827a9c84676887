"""Translation over HTTP, in the protocols that other programs speak, and a page for people."""
