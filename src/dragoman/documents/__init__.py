"""Files that are translated as a whole: text in them is translated, everything else is kept."""
