"""The settings of a training, their defaults, and reading them from a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from kdenv.core.errors import BadOption, did_you_mean, shown
from kdenv.core.fields import LARGEST_SEED, check_fields, declare, fields_of, refused
from kdenv.core.files import read_toml
from kdenv.core.game import Game
from kdenv.networks.network import ACTIVATIONS
from kdenv.policies.learned import model_path
from kdenv.policies.model_file import LARGEST_SCALE, SMALLEST_SCALE, VALUE, read_network

_MOST_GUIDES = 4


def setting(meaning: str, default: Any, least: float = 0, most: float = 10**9, **about: Any) -> Any:
    """A field with a default and, for numbers, bounds."""
    return declare(meaning, default=default, least=least, most=most, **about)


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of a training. With a number of games and one thread, the same settings give the same network."""

    game: str
    players: int = setting("the number of players; 0 for the usual number", 0, 0, 64)
    options: dict[str, Any] = declare("the options of the game, by name", default_factory=dict)
    encoding: str = setting("the encoding by which the network sees positions; the default of the game if empty", "")
    hidden: int = setting("the size of the hidden layer", 64, 1, 4096)
    second: int = setting("the size of a second hidden layer; 0 for none", 0, 0, 4096)
    activation: str = setting("the activation of hidden layers: tanh or relu", "relu", choices=tuple(ACTIVATIONS))
    scale: float = setting("the margin that counts 1 in the target; 0 for half the game's scale of rewards", 0.0, 0, LARGEST_SCALE)
    win: float = setting("the weight of a win in the target, against the margin: 0 to 1", 0.0, 0, 1)
    lam: float = setting("lambda: the weight of the result in the target, against the next position", 0.7, 0, 1)
    random: float = setting("the share of turns that are taken at random", 0.02, 0, 1)
    rate: float = setting("the size of the first steps", 3e-4, 0, 1)
    last: float = setting("the size of the last steps, as a share of the first", 0.05, 0, 1)
    in_steps: int = setting("1 to choose the first decision of a turn before the others: faster, but it may miss the best turn", 0, 0, 1)
    all_seats: int = setting("1 to learn each position as all seats see it, 0 only as the seat that has just moved", 0, 0, 1)
    guides: list[str] = declare("rule players that play some of the seats", default_factory=list, form="a list of texts")
    guided: float = setting("the probability that a guide plays a seat, in the first part of the training", 0.0, 0, 1)
    first: float = setting("the share of the training that is its first part, in which turns of guides are targets, too", 0.0, 0, 1)
    then: float = setting("the probability that a guide plays a seat, after the first part", 0.0, 0, 1)
    teacher: str = setting("a search that plays the games; the network learns the values that it finds for turns", "")
    games: int = setting("the number of games to learn from; 0 for no limit", 0)
    minutes: float = setting("minutes of CPU time to learn for, if games are not given (two threads use two in a minute)", 10.0)
    seed: int = setting("the seed of the training", 0, 0, LARGEST_SEED)
    source: str = setting("a model to begin with; it gives layers, encoding, scale and win, unless they are given", "")

    def __post_init__(self) -> None:
        check_fields(self, fields_of(TrainingSettings))
        if 0 < self.scale < SMALLEST_SCALE:
            raise refused("scale", self.scale, f"may be 0, or {SMALLEST_SCALE:g} to {LARGEST_SCALE:g}")
        if (self.guided > 0 or self.then > 0) and not self.guides:
            raise BadOption('guided and then say how often guides play, so they need guides; give guides, as in guides = ["greedy"]')
        if self.guides and not (self.guided * self.first or self.then):
            raise BadOption("no guide would ever play; give guided and first, as in guided = 0.6 and first = 0.3, or then")
        if self.guides and self.teacher:
            raise BadOption("a teacher plays all seats, so there are no guides; leave one of them out")
        if len(self.guides) > _MOST_GUIDES:
            raise BadOption(f"guides lists {len(self.guides)} players; it may be up to {_MOST_GUIDES}")
        if self.games == 0 and self.minutes == 0:
            raise BadOption("neither games nor minutes say when the training ends; give one of them")

    def scale_for(self, game: Game) -> float:
        """The margin that counts 1."""
        return self.scale or game.margin_scale / 2

    def text(self) -> str:
        """The settings that differ from the defaults, as flags of the command line."""
        words = [f"kdenv train {self.game}"]
        for name, field in fields_of(TrainingSettings).items():
            value = getattr(self, name)
            if name == "game" or value == field.default:
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
    source = given.get("source")
    taken = _of_model(model_path(source), game) if isinstance(source, str) and source else {}
    return TrainingSettings(game=game, **(taken | dict(given)))


def _of_model(path: Path, game: str) -> dict[str, Any]:
    """The settings of this model, for a training that begins with it."""
    stored = read_network(path)
    if stored.made_for.get("game", game) != game:
        raise BadOption(f"{path.name} was trained on {shown(stored.made_for['game'])}, not on {game}; give a model of {game}")
    if stored.predicts != VALUE:
        raise BadOption(f"{path.name} predicts a {stored.predicts}, and a training begins with a network of values; give one of these")
    hidden = [len(bias) for _, bias in stored.layers[:-1]]
    if len(hidden) not in (1, 2):
        raise BadOption(f"{path.name} has {len(hidden)} hidden layers, and 'kdenv train' knows networks of one or two; give another model")
    sizes = dict(zip(("hidden", "second"), hidden, strict=False))
    encoding = str(stored.made_for.get("encoding", ""))
    return {**sizes, "activation": stored.activation, "encoding": encoding, "scale": stored.scale, "win": stored.win}
