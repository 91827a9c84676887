"""Languages: their codes and names, the scripts they are written in, and which one a text is in."""
