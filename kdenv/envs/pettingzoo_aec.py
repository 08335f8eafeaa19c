"""PettingZoo's `AECEnv`. PettingZoo is not marked as typed, so to mypy, and to mypy alone, the class is that of a stub.

It is not in aec.py because pyright takes the last class of a name that a module exports, which is PettingZoo's.
"""

MYPY = False  # mypy takes a constant of this name to be true
if MYPY:
    from kdenv.envs.pettingzoo_stub import AECEnv as AECEnv
else:
    from pettingzoo import AECEnv as AECEnv
