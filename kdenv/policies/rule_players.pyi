"""The classes of the rule-based players of kdenv's games, for type checkers and editors. players.py makes them at run time."""

from typing import Literal

from kdenv.policies.players import RulePolicy

class FullGreedy(RulePolicy):
    def __init__(self, *, variant: Literal["fixed", "paper"] = "fixed") -> None: ...

class Gprd(RulePolicy):
    def __init__(self, *, opening: Literal["crowns", "random"] = "crowns") -> None: ...

class BigMoney(RulePolicy):
    def __init__(self) -> None: ...

class Bmfsm(RulePolicy):
    def __init__(self) -> None: ...

class SingleWitch(RulePolicy):
    def __init__(self, *, variant: Literal["thesis", "dominiate"] = "thesis") -> None: ...

class DoubleWitch(RulePolicy):
    def __init__(self, *, variant: Literal["thesis", "dominiate"] = "thesis") -> None: ...

class Rollout(RulePolicy):
    def __init__(
        self, *, epsilon: float = 0.15, remodel: Literal["dearest", "random", "cheapest"] = "dearest", mppaf: bool = True
    ) -> None: ...

class Greedy(RulePolicy):
    def __init__(self, *, weights: Literal["final", "intuitive"] = "final") -> None: ...
