"""Find the mistakes in somebody's own implementation of the Transformer.

A learner's file is run in a process of its own, statement by statement. The classes in it that are
named like parts of the Transformer are built with small sizes and examined: what they compute, what
depends on what, what learns. The text itself is only searched for lines that do nothing.

    cells.py            a script, notebook or page -> pieces of Python
    program.py          runs them, and continues after failures
    mending.py          fixes what stops a program, to look further
    slips.py            misspelt names and the like, on one line
    spelling.py         which name was meant
    words.py            which names and numbers occur in a method
    reading.py          lines that do nothing
    demonstrations.py   what the program shows of its parts
    parts.py            which class is which part of figure 1
    configurations.py   what holds the settings of its parts
    arguments.py        what a constructor or a forward method expects
    construction.py     builds a part, and whatever it needs
    calls.py            calls a part
    convention.py       how the learner's attention wants its masks
    global_sizes.py     sizes that a program keeps outside of its classes
    examinations/       the checks, one file per part
    examiner.py         lets every examination look at its part
    process.py          does all that in another process
    child.py            the other process
    limits.py           its time and memory
    report.py           what was found
"""
