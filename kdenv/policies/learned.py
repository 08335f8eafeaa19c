"""Learned policies: `learned(MODEL)` follows a network of values, `ppo(MODEL)` a network that chooses actions.

Models are files (model_file.py). `kdenv train` makes networks of values, and `kdenv export` writes the network of a MaskablePPO model of
Stable-Baselines3 in the same format. Such a model (.npz) needs neither torch nor Stable-Baselines3. It runs inside kernels, and playing
it runs nothing but the network.

`ppo` also plays a .zip of Stable-Baselines3. Stable-Baselines3 unpickles it, and unpickling runs any code in the file. Play a .zip only
if you trust it as you trust a program. A process that plays its first .zip prints a warning.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import make_rng, uniform
from kdenv.core.encoding import Observer, check_layout, observer_for_model
from kdenv.core.errors import BadOption, NotSupported, shown
from kdenv.core.game import Game, Variant
from kdenv.core.questions import choose_at
from kdenv.core.view import View
from kdenv.networks.network import Network, copy_for_thread, network_of
from kdenv.networks.players import Drawn, Goal, Scored, Valued, turns_for, weigh_turns
from kdenv.networks.priors import ByOdds, ByScores, ByValues
from kdenv.policies.base import TurnPolicy
from kdenv.policies.model_file import POLICY, SCORE, VALUE, StoredNetwork, read_network
from kdenv.policies.networks import PriorNetwork, ValueNetwork, unit_of_goal
from kdenv.policies.playouts import Playout
from kdenv.policies.result import SearchResult
from kdenv.policies.text.parameter import param
from kdenv.policies.text.value import Value, named
from kdenv.policies.torch_models import check_sb3, load_sb3, made_for, output_of

Array = NDArray[np.float32]
_SHIPPED = Path(__file__).parents[1] / "models"


@dataclass
class Model:
    """The content of a model file, and the game, players and options that it was last found to fit."""

    file: str  # the name of the file, for errors
    n_observed: int
    n_actions: int
    made_for: Mapping[str, Any]  # the Observer.made_for of its training; empty if the file has none
    stored: StoredNetwork | None = None  # None for a .zip
    logits: Callable[[Array], Array] | None = None  # of a .zip: the logits of all actions for an observation
    _fits: tuple[Game, int, bytes] | None = None
    _observer: Observer | None = None  # of the encoding that the model takes for this game, players and options
    _network: Network | None = field(default=None, repr=False)

    def logits_for(self, view: View) -> Array:
        """The logits of all actions for this view, observed by the encoding that the model was trained on. Only for a .zip."""
        assert self.logits is not None
        return self.logits(view.observation(self.observer(view.game, view.players, view.variant).encoding.name))

    def network(self, game: Game) -> Network:
        """The compiled network, with its own buffers. Call `observer` before, which checks that the model fits."""
        assert self.stored is not None
        observer = self._observer if self._observer is not None and self._observer.game is game else self._usual_observer(game)
        if self._network is None:
            self._network = network_of(observer.part(), self.stored.layers, self.stored.activation, self.stored.heads)
        return copy_for_thread(self._network, observer.part())

    def _usual_observer(self, game: Game) -> Observer:
        players, variant = game.variant()
        if self.stored is not None and self.stored.players:
            players, variant = game.variant(self.stored.players, **self.stored.options)
        return self.observer(game, players, variant)

    def observer(self, game: Game, players: int, variant: Variant) -> Observer:
        """The observer for this game, players and options. Raises NotSupported if the model was not trained for them."""
        asked = game, players, variant.tobytes()
        if self._observer is not None and asked == self._fits:
            return self._observer
        observer = observer_for_model(self.made_for, self.file, game, players, variant)
        n_actions = game.n_actions(players, variant)
        same_version = self.made_for.get("version", observer.encoding.version) == observer.encoding.version
        if same_version and self.stored is not None and self.stored.predicts != POLICY:
            self._check_table(game, players, variant)
        elif same_version and (self.n_observed, self.n_actions) != (observer.size, n_actions):
            raise NotSupported(
                f"{self.file} takes {self.n_observed} numbers and knows {self.n_actions} actions, but {game.name} with {players} "
                f"players and these options has {observer.size} and {n_actions}; use a model trained on the same game"
            )
        check_layout(self.made_for, self.file, observer)
        if self.n_observed != observer.size:
            raise NotSupported(
                f"{self.file} takes {self.n_observed} numbers, but {game.name} gives {observer.size} here; train the model again"
            )
        self._fits, self._observer = asked, observer
        return observer

    def _check_table(self, game: Game, players: int, variant: Variant) -> None:
        """Refuse a number of players or options other than those for which a network of values was trained."""
        assert self.stored is not None
        trained = self.stored.players
        if trained != players:
            raise NotSupported(
                f"{self.file} was trained for {trained} players, not for {players}; play it with {trained}, or train a model for {players}"
            )
        options = json.loads(json.dumps(game.options_of(variant)))  # as in the file: tuples are lists
        for name, value in self.stored.options.items():
            if options.get(name) != value:
                raise NotSupported(
                    f"{self.file} was trained with {shown(name)}={shown(value)}, not with {shown(name)}={shown(options.get(name))}; "
                    "train a model for these rules"
                )


class ModelPolicy(TurnPolicy, Playout, PriorNetwork):
    """A policy that follows a model. Its compiled player has buffers, so each call of `compiled` makes another one."""

    family, remedy = PriorNetwork.family, PriorNetwork.remedy  # not those of a policy or a playout
    predicts: ClassVar[tuple[str, ...]]  # the kinds of networks that it follows
    usual_temperature: ClassVar[float]  # of priors
    model: str

    def __post_init__(self) -> None:
        """Check that the file exists, so that a wrong name is refused before a game begins. The file is loaded when it is first needed."""
        super().__post_init__()
        model_path(self.model)

    def needs(self, game: Game, players: int, variant: Variant) -> None:
        """Refuse a game, a number of players or options that the model was not made for."""
        super().needs(game, players, variant)
        self.loaded().observer(game, players, variant)

    def prepare(self, view: View) -> None:
        """Load the model, check that it was made for such views, and compile it."""
        player = self._part(view)
        if player is not None:
            choose_at(player, view.scratch(2), 0, view.game.buffer(), make_rng(0))

    def choose_turn(self, view: View) -> int:
        """The packed turn that the model chooses."""
        return int(choose_at(self._part(view), view.scratch(2), 0, view.game.buffer(), self.memory.rng))

    def player(self, view: View) -> Any:
        """The compiled player, which decides for all seats."""
        found = self._part(view, anew=True)
        if found is None:
            raise NotSupported(
                f"{self} cannot play inside a search, because its model is a .zip; write it as .npz with 'kdenv export {self.model}'"
            )
        return found

    def _part(self, view: View, *, anew: bool = False) -> Any:
        """The compiled player for this view; None if it has none."""
        self.loaded().observer(view.game, view.players, view.variant)
        kept = self.memory.kept
        if anew or kept.get("game") is not view.game:
            kept["game"], kept["part"] = view.game, self.compiled(view.game, view.players)
        return kept["part"]

    def loaded(self) -> Model:
        """The model, read from its file when it is first needed."""
        if "model" not in self.memory.kept:
            model = load(model_path(self.model))
            stored = model.stored
            if stored is not None and stored.predicts not in self.predicts:
                other, needed = "learned" if stored.predicts == VALUE else "ppo", " or a ".join(self.predicts)
                raise BadOption(f"{model.file} predicts a {stored.predicts}, and {self.kind} needs a {needed}; write {other}({self.model})")
            self.memory.kept["model"] = model
        found: Model = self.memory.kept["model"]
        return found


@named("learned")
class Learned(ModelPolicy, ValueNetwork):
    """A learned policy: takes the turn after which a network of values rates the position best; `kdenv train` makes the network."""

    predicts = (VALUE,)
    usual_temperature = 0.1
    family, remedy = ValueNetwork.family, ValueNetwork.remedy
    model: str = param(help="the model: an .npz of 'kdenv train', or the name of a shipped model", kw_only=False)

    def compiled(self, game: Game, players: int) -> Valued:
        """The compiled player, with its own buffers. Call `needs` before, which refuses a table that the model does not fit."""
        model = self.loaded()
        network, stored = model.network(game), model.stored
        assert stored is not None
        goal = Goal(teams=game.teams(stored.players), scale=stored.scale, win=stored.win)
        return Valued(network=network, goal=goal, room=turns_for(game, stored.players))

    def priors(self, view: View, temperature: float | None) -> ByValues:
        """Make priors from the values of the positions after turns."""
        return ByValues(player=self.player(view), temperature=temperature or self.usual_temperature)

    @property
    def unit(self) -> str:
        """The unit of the network's values, such as margin/50."""
        stored = self.loaded().stored
        assert stored is not None
        return unit_of_goal(stored.scale, stored.win)

    def worths(self, view: View, turns: NDArray[np.int64]) -> NDArray[np.float64]:
        """The network's value, for the seat, of the position right after each turn. `turns` must be all open turns."""
        player = self._part(view)
        n = int(weigh_turns(player, view.scratch(1), 0))
        assert np.array_equal(player.room.turns[:n], turns)
        found: NDArray[np.float64] = player.room.worths[:n].copy()
        return found

    def search(self, view: View, *, thorough: bool = True) -> SearchResult:
        """Return the network's value of the position after each turn. It looks no further ahead, so `thorough` has no effect."""
        player = self._part(view)
        n = int(weigh_turns(player, view.scratch(1), 0))
        worths, turns = player.room.worths[:n].copy(), player.room.turns[:n].copy()
        nothing = np.full(n, np.nan)
        return SearchResult(
            view, turns, np.ones(n, np.int64), worths, nothing, int(worths.argmax()), "worth", n, {"positions": float(n)}, []
        )


@named("ppo")
class Ppo(ModelPolicy):
    """A learned policy: takes the most probable legal action of a model, or samples an action."""

    predicts = (POLICY, SCORE)
    usual_temperature = 1.0
    model: str = param(
        help="the model: a .zip of MaskablePPO, an .npz of kdenv.rl or of an export, or the name of a shipped model", kw_only=False
    )
    sample: bool = param("whether actions are sampled by their probabilities, instead of taking the most probable one", default=False)

    def compiled(self, game: Game, players: int) -> Drawn | Scored | None:
        """The compiled player, with its own buffers; None for a .zip. Call `needs` before."""
        model = self.loaded()
        if model.stored is None:
            return None
        network, sample = model.network(game), int(self.sample)
        if model.stored.predicts == POLICY:
            return Drawn(network=network, sample=sample)
        return Scored(network=network, sample=sample, room=turns_for(game, players)._replace(most_decisions=1))

    def priors(self, view: View, temperature: float | None) -> ByOdds | ByScores:
        """Make priors from the probabilities of actions."""
        game, player = view.game, self.player(view)
        parts = np.zeros(1, game.state_dtype), np.zeros(game.max_legal, np.int64), np.zeros(game.max_legal)
        if isinstance(player, Scored):
            return ByScores(player, temperature or self.usual_temperature, *parts)
        return ByOdds(player.network, temperature or self.usual_temperature, *parts)

    def choose_turn(self, view: View) -> int:
        """The most probable legal action, or a sample of the legal actions, as a packed turn."""
        player, model, legal = self._part(view), self.loaded(), view.legal()
        if player is not None:
            return int(choose_at(player, view.scratch(2), 0, view.game.buffer(), self.memory.rng))
        logits = model.logits_for(view)[legal]
        if not np.isfinite(logits).all():
            raise BadOption(f"{model.file} gives a number that is not finite in this position, so it cannot choose; use another model")
        return self._choose(legal, logits) + 1

    def _choose(self, legal: list[int], logits: Array) -> int:
        if not self.sample:
            return legal[int(np.argmax(logits))]
        odds = np.cumsum(np.exp(logits - logits.max(), dtype=np.float64))
        return legal[min(int(np.searchsorted(odds, uniform(self.memory.rng) * odds[-1], side="right")), len(legal) - 1)]


def shipped_models() -> dict[str, Path]:
    """The models that come with kdenv, by name."""
    return {path.stem: path for path in sorted(_SHIPPED.glob("*.npz"))}


def model_path(name: str) -> Path:
    """The path of the model with this name, which is a path or the name of a shipped model."""
    shipped = shipped_models()
    if name in shipped:
        return shipped[name]
    path = Path(name)
    if path.name and path.suffix not in (".zip", ".npz"):
        path = path.with_name(path.name + ".zip")  # Stable-Baselines3 adds this ending
    try:
        is_there = path.is_file()
    except OSError:  # no file can have this name, as where it is too long
        is_there = False
    if not is_there:
        known = ", ".join(shipped) or "none"
        raise BadOption(
            f"there is no model {shown(name)}; give the model.npz of 'kdenv train', a .zip of MaskablePPO or its export as .npz, "
            f"or a shipped model ({known})"
        )
    return path


def models_of(player: Value) -> dict[str, str]:
    """The files that a policy uses, each with a digest: models by their names in its text, and modules outside kdenv by theirs."""
    found = {}
    if isinstance(player, ModelPolicy):
        found[player.model] = _digest([model_path(player.model)])
    module = type(player).__module__
    file = Path(getattr(sys.modules.get(module), "__file__", None) or "")
    if file.name and module.partition(".")[0] not in ("kdenv", "__main__", "__mp_main__"):
        found[module] = _digest(sorted(file.parent.rglob("*.py")) if file.stem == "__init__" else [file])
    for name in player.parameters():
        if isinstance(value := getattr(player, name), Value):
            found |= models_of(value)
    return found


def _digest(files: Iterable[Path]) -> str:
    """Twelve hexadecimal digits that change with any of these files."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def load(path: Path) -> Model:
    """Read the model in a file: an exported one (.npz), or one of Stable-Baselines3."""
    if path.suffix != ".npz":
        return _load_zip(path)
    stored = read_network(path)
    return Model(path.name, stored.n_in, stored.n_out, stored.made_for, stored)


def _load_zip(path: Path) -> Model:
    """Unpickle a model file of Stable-Baselines3 and take its network."""
    model = load_sb3(path)
    check_sb3(model)
    output = output_of(model)
    n_observed, n_actions = int(model.observation_space.shape[0]), int(model.action_space.n)
    return Model(path.name, n_observed, n_actions, made_for(model), logits=lambda observation: output(observation[np.newaxis])[0])
