"""The settings of a training, their defaults, and reading them from a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from types import MappingProxyType
from typing import Any

from kdenv.core.errors import BadOption, did_you_mean, shown
from kdenv.core.fields import LARGEST_SEED, check_fields, declare, fields_of, refused
from kdenv.core.files import read_toml
from kdenv.core.game import Game
from kdenv.games import find_game
from kdenv.networks.network import ACTIVATIONS
from kdenv.policies.learned import model_path
from kdenv.policies.model_file import LARGEST_SCALE, MOST_HEADS, SCORE, SMALLEST_SCALE, VALUE, read_network

TD, PPO, EXPERT = "td", "ppo", "expert"  # methods
PREDICTS = MappingProxyType({TD: VALUE, PPO: SCORE, EXPERT: SCORE})  # what the network of each method predicts
_USUAL: Mapping[str, Mapping[str, float]] = {  # defaults that differ
    TD: {"lam": 0.7, "rate": 3e-4},
    PPO: {"lam": 0.9, "rate": 3e-3},
    EXPERT: {"lam": 0.9, "rate": 3e-3},
}
_OF_BATCHES = "rollout", "batch", "epochs"
_ONLY = {  # the settings that not all methods have
    TD: ("random", "in_steps", "all_seats", "teacher"),
    PPO: (*_OF_BATCHES, "clip", "entropy"),
    EXPERT: (*_OF_BATCHES, "searched", "playouts", "considered", "ahead", "weight"),
}
_MOST_GUIDES = 4


def setting(meaning: str, default: Any, least: float = 0, most: float = 10**9, **about: Any) -> Any:
    """A field with a default and, for numbers, bounds."""
    return declare(meaning, default=default, least=least, most=most, **about)


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of a training. With a number of games and one thread, the same settings give the same network."""

    game: str
    method: str = setting(
        "td: learn values by temporal differences; ppo: learn to score turns by policy gradients; expert: by the turns of small searches",
        TD,
        choices=(TD, PPO, EXPERT),
    )
    players: int = setting("the number of players; 0 for the usual number", 0, 0, 64)
    options: dict[str, Any] = declare("the options of the game, by name", default_factory=dict)
    encoding: str = setting("the encoding by which the network sees positions; the default of the game if empty", "")
    hidden: int = setting("the size of the hidden layer", 64, 1, 4096)
    second: int = setting("the size of a second hidden layer; 0 for none", 0, 0, 4096)
    third: int = setting("the size of a third hidden layer, after a second one; 0 for none", 0, 0, 4096)
    heads: int = setting("the number of last layers; each serves another part of the game, from its beginning to its end", 1, 1, MOST_HEADS)
    activation: str = setting("the activation of hidden layers: tanh or relu", "relu", choices=tuple(ACTIVATIONS))
    scale: float = setting("the margin that counts 1 in the target; 0 for half the game's scale of rewards", 0.0, 0, LARGEST_SCALE)
    win: float = setting("the weight of a win in the target, against the margin: 0 to 1", 0.0, 0, 1)
    lam: float = setting("lambda: the weight of the result in the target, against the next position (td: 0.7, ppo: 0.9)", None, 0, 1)
    random: float = setting("the share of turns that are taken at random", 0.02, 0, 1)
    rate: float = setting("the size of the first steps (td: 0.0003, ppo: 0.003)", None, 0, 1)
    last: float = setting("the size of the last steps, as a share of the first", 0.05, 0, 1)
    in_steps: int = setting("1 to choose the first decision of a turn before the others: faster, but it may miss the best turn", 0, 0, 1)
    all_seats: int = setting("1 to learn each position as all seats see it, 0 only as the seat that has just moved", 0, 0, 1)
    rollout: int = setting("ppo, expert: the number of decisions that are played before the network learns from them", 8192, 1, 10**6)
    batch: int = setting("ppo, expert: the number of decisions in a step of the optimiser", 1024, 1, 10**6)
    epochs: int = setting("ppo, expert: how often each decision is learned from", 2, 1, 100)
    clip: float = setting("ppo: how far the ratio of the new probability of an action to the old one may be from 1", 0.2, 0, 1)
    entropy: float = setting("ppo: the weight of the entropy of the policy", 0.003, 0, 10)
    searched: float = setting("expert: the share of decisions that are searched", 0.25, 0, 1)
    playouts: int = setting("expert: the playouts of a search at the end of the training; at first there are 2", 8, 2, 10**4)
    considered: int = setting("expert: the number of actions that a search tries at most", 4, 2, 10**4)
    ahead: int = setting("expert: the turns of its seat after which a playout ends with the value of the network", 1, 1, 100)
    weight: float = setting("expert: the weight of a value beside the logarithm of a probability", 20.0, 0, 10**6)
    guides: list[str] = declare("rule players that play some of the seats", default_factory=list, form="a list of texts")
    guided: float = setting("the probability that a guide plays a seat, in the first part of the training", 0.0, 0, 1)
    first: float = setting("the share of the training that is its first part; td learns from the turns of guides there", 0.0, 0, 1)
    then: float = setting("the probability that a guide plays a seat, after the first part", 0.0, 0, 1)
    teacher: str = setting("a search that plays the games; the network learns the values that it finds for turns", "")
    games: int = setting("the number of games to learn from; 0 for no limit", 0)
    minutes: float = setting("minutes of CPU time to learn for, if games are not given (two threads use two in a minute)", 10.0)
    seed: int = setting("the seed of the training", 0, 0, LARGEST_SEED)
    source: str = setting("a model to begin with; it gives layers, encoding, scale and win, unless they are given", "")

    def __post_init__(self) -> None:
        for name, usual in _USUAL.get(self.method, _USUAL[TD]).items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, usual)
        check_fields(self, fields_of(TrainingSettings))
        if 0 < self.scale < SMALLEST_SCALE:
            raise refused("scale", self.scale, f"may be 0, or {SMALLEST_SCALE:g} to {LARGEST_SCALE:g}")
        if self.third and not self.second:
            raise refused("third", self.third, "needs a second hidden layer; give second, too")
        if (self.guided > 0 or self.then > 0) and not self.guides:
            raise BadOption('guided and then say how often guides play, so they need guides; give guides, as in guides = ["greedy"]')
        if self.guides and not (self.guided * self.first or self.then):
            raise BadOption("no guide would ever play; give guided and first, as in guided = 0.6 and first = 0.3, or then")
        for name in ("guided", "then"):
            if getattr(self, name) == 1 and self.method != TD:
                raise BadOption(f"{name}=1 leaves no seat to the network, which learns from its own turns; give less than 1")
        if self.guides and self.teacher:
            raise BadOption("a teacher plays all seats, so there are no guides; leave one of them out")
        if len(self.guides) > _MOST_GUIDES:
            raise BadOption(f"guides lists {len(self.guides)} players; it may be up to {_MOST_GUIDES}")
        for other, names in _ONLY.items():
            for name in names:
                if name not in _ONLY[self.method] and getattr(self, name) != fields_of(TrainingSettings)[name].default:
                    raise BadOption(f"{flag(name)} is a setting of --method {other}; leave it out, or choose this method")
        if self.games == 0 and self.minutes == 0:
            raise BadOption("neither games nor minutes say when the training ends; give one of them")

    def scale_for(self, game: Game) -> float:
        """The margin that counts 1."""
        return self.scale or game.margin_scale / 2

    def text(self) -> str:
        """The settings that differ from the defaults, as flags of the command line."""
        words, usual = [f"kdenv train {self.game}"], TrainingSettings(self.game, method=self.method)
        words += [f"--method {self.method}"] * (self.method != TD)
        for name in fields_of(TrainingSettings):
            value = getattr(self, name)
            if name == "game" or value == getattr(usual, name):
                continue
            if isinstance(value, dict):
                words += [f"--option {quote(f'{option}={of}')}" for option, of in value.items()]
            else:
                words += [f"--{flag(name)} {quote(str(of))}" for of in (value if isinstance(value, list) else [value])]
        return " ".join(words)


def flag(name: str) -> str:
    """The flag of a setting, without the dashes."""
    return {"source": "from"}.get(name, name.replace("_", "-"))


def read_settings(path: Path, game: str, given: Mapping[str, Any]) -> TrainingSettings:
    """The settings in a TOML file. Settings and options of the game that are given replace those of the file."""
    found = read_toml(path)
    both = {**found, **given}
    if isinstance(found.get("options"), dict) and "options" in given:
        both["options"] = {**found["options"], **given["options"]}
    return settings_of(game, both, str(path))


def settings_of(game: str, given: Mapping[str, Any], where: str) -> TrainingSettings:
    """TrainingSettings from a mapping. Raises BadOption for an unknown name."""
    known = [name for name in fields_of(TrainingSettings) if name != "game"]
    for name in given:
        if name not in known:
            raise BadOption(f"{where}: there is no setting {shown(name)}{did_you_mean(name, known)}; the settings are {', '.join(known)}")
    source, usual = given.get("source"), {"encoding": find_game(game).training_encoding}
    taken = _of_model(model_path(source), game, given.get("method", TD)) if isinstance(source, str) and source else {}
    return TrainingSettings(game=game, **(usual | taken | dict(given)))


def named_kind(method: str) -> str:
    """The kind of network that a method makes, in words for errors."""
    return f"network of {PREDICTS[method]}s"


def _of_model(path: Path, game: str, method: str) -> dict[str, Any]:
    """The settings of this model, for a training by this method that begins with it."""
    stored = read_network(path)
    if stored.made_for.get("game", game) != game:
        raise BadOption(f"{path.name} was trained on {shown(stored.made_for['game'])}, not on {game}; give a model of {game}")
    if method in PREDICTS and stored.predicts != PREDICTS[method]:
        kind = named_kind(method)
        raise BadOption(f"{path.name} predicts a {stored.predicts}, and a training begins with a {kind}; give one of these")
    hidden = [len(bias) for _, bias in stored.layers[:-1]]
    if len(hidden) not in (1, 2, 3):
        raise BadOption(
            f"{path.name} has {len(hidden)} hidden layers, and 'kdenv train' knows networks of one to three; give another model"
        )
    sizes = {**dict(zip(("hidden", "second", "third"), hidden, strict=False)), "heads": stored.heads}
    encoding = str(stored.made_for.get("encoding", ""))
    goal = {} if stored.predicts == SCORE else {"scale": stored.scale, "win": stored.win}  # a score has no unit
    return {**sizes, **goal, "activation": stored.activation, "encoding": encoding}
