"""Stand-ins for the classes of other libraries, with piecework behind them.

Nothing inside piecework imports them; each needs what it stands in for only as far as it says.
"""
