"""Models and journals to figures."""
