"""What ``tidegate demo`` is made of: a day of work, the processes, a watch of our own, a screen, a summary.

Each module can be read alone: ``workday``, ``grants``, ``audit``, ``screen`` and ``summary`` know no network,
``stage`` and ``borrowed`` are where it plays, ``show`` puts it all together.
"""
