"""Attacks on what Gramian promises: hard numbers, false certificates, faults of the machine, hostile input, threads.

    python -m torture                      # ten minutes of new attacks, then a scoreboard
    python -m torture --until-done         # goes on where it last stopped, until every family has its count
    python -m torture --only faults --first 120 --count 1     # one attack again

An attack is a function of its number alone, so that a number is all that has to be written down to see a failure again.
"""
