"""`SeatEnv`: any game as a Gymnasium environment for one seat that learns; the other seats are policies inside the environment.

If all of them have a compiled form (random and the rule-based players do), a step is one kernel call from one decision of the learner
to the next. Otherwise Python calls the policies, each with a view of its seat. After an error in an opponent, step() raises WrongOrder
until the environment is reset.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.random import Rng, below, make_rng
from kdenv.core.encoding import Layout
from kdenv.core.errors import BadOption, IllegalAction, NotSupported, WrongOrder
from kdenv.core.fields import check_seed
from kdenv.core.game import Game
from kdenv.core.table import Table
from kdenv.core.view import View
from kdenv.envs.decisions import BatchPolicy, Decisions, Seeing, asked_for_actions
from kdenv.envs.episode import Episode, Script, article
from kdenv.envs.opponents import Lineup, Opponent, Pool
from kdenv.envs.rendering import MODES, Screen
from kdenv.envs.rewards import Payer, Reward, forfeit, is_truncated
from kdenv.envs.seeds import CHANCE, DICE, SEAT, Seeds
from kdenv.envs.setup import SeatSetup, empty_table
from kdenv.envs.spaces import CRITIC, ActionSpace, Mask, in_form, space_of
from kdenv.envs.step_kernel import NO_ACTION, NOBODY, CompiledOpponents
from kdenv.envs.validation import warn_of_loss
from kdenv.policies.compiled_opponents import first_use

_DEALS = 1000  # reset gives up after this many games in a row in which the learner has nothing to decide


class SeatEnv(gymnasium.Env[Any, Any]):
    """A game as an environment for one seat, the learner; policies play the other seats.

    Args:
        game: The name of a game, or a Game.
        opponents: The policy of all other seats ("random" by default), or a list of one for each, in the order in which they sit after the
            learner. In a game with teams the learner's partners are among them. A policy is a text, a Policy, a function of a view, or an
            object with act_batch (BatchPolicy), such as a network.
        players: The number of seats; None is the usual number of the game.
        pool: A list of policies, from which each of the other seats draws one for every game. Give it instead of `opponents`. A dict gives
            them weights: {"full_greedy": 3, "random": 1} draws full_greedy three times as often.
        seat: The seat of the learner; "random" draws it for every game; "rotate" takes the next seat in every game.
        observation: The form of an observation: "vector" (float32), or "dict" or "parts" as in TableEnv.
        reward: As in TableEnv, for the learner. With all but "gains" it is 0 until the game ends.
        illegal: The effect of an action that is not legal. "terminate" warns and ends the game as a loss, and info["illegal"] names the
            action. "raise" raises IllegalAction and changes nothing.
        encoding: The name of one of `game.encodings`; None is the first of them.
        critic_encoding: The name of a second encoding, such as one for a critic. Its vector is info["critic_observation"]; with
            observation="dict" it is also a part of the observation.
        skip_forced: Whether the environment carries out the only legal action itself, without asking the learner.
        record: Whether the last info of a game has its "record".
        render_mode: One of "human" (a window), "ansi" (text), "svg" and "rgb_array" (a picture), or None.
        options: The options of the game.

    info has "action_mask" and "seat", and at the end "scores" and "ranks" of all seats as arrays of integers. MaskablePPO calls
    `action_masks()`. `table` is the game, to look at; step() raises WrongOrder after somebody else has changed it.

    When a game is over, its last mask is all ones although nothing is legal. Training loops also compute the probabilities of actions for
    the last observation of a game, for instance where a vector environment resets in the next step (NEXT_STEP). With logits set to -inf
    by a mask of zeros these would be NaN.

    >>> import gymnasium, kdenv
    >>> env = gymnasium.make("kdenv/Kingdomino-v0", players=2, size=3, opponents="full_greedy", reward="margin")
    >>> observation, info = env.reset(seed=1)
    >>> over = False
    >>> while not over:
    ...     observation, reward, terminated, truncated, info = env.step(info["action_mask"].argmax())
    ...     over = terminated or truncated
    >>> print(info["scores"], reward)
    [ 1 12] -0.11

    """

    metadata: dict[str, Any] = {"render_modes": list(MODES), "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game = "kingdomino",
        opponents: Opponent | Sequence[Opponent] | None = None,
        *,
        players: int | None = None,
        pool: Pool | None = None,
        seat: int | str = 0,
        observation: str = "vector",
        reward: Reward = "win",
        illegal: str = "terminate",
        encoding: str | None = None,
        critic_encoding: str | None = None,
        skip_forced: bool = False,
        record: bool = False,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        setup = SeatSetup(
            empty=empty_table(game, players, options, type(self)),
            opponents=opponents,
            pool=pool,
            seat=seat,
            observation=observation,
            reward=reward,
            illegal=illegal,
            encoding=encoding,
            critic_encoding=critic_encoding,
            skip_forced=skip_forced,
            render_mode=render_mode,
        )
        self.reward, self.illegal, self.render_mode, self.with_record = reward, illegal, render_mode, record
        self._form, self._skip_forced, self._seat_rule = observation, skip_forced, seat
        self._payer = Payer(reward)
        self._episode = Episode(setup)
        self._screen = Screen(render_mode, f"{setup.empty.game.name}_v0")
        self.action_space = ActionSpace(self._episode.n_actions)
        self._critic = setup.critic_observer()
        self.observation_space = space_of(observation, self._episode.observer, self._episode.n_actions, self._critic)
        self.seat = 0 if isinstance(seat, str) else int(seat)  # the seat of the learner in this game
        self._seeds = Seeds()
        self._is_on = False
        self._dice: Rng = make_rng(0)
        self._seeing = Seeing(setup.empty, self._episode.observer)  # for opponents that are asked by act_batch
        self._compiled = CompiledOpponents(None, ())
        self._stops = 0  # the seats that it does not play, as bits
        self._lineup = self._next_lineup = setup.lineup()

    def set_opponents(self, opponents: Opponent | Sequence[Opponent] | None = None, pool: Pool | None = None) -> None:
        """Change the policies of the other seats from the next reset on. The parameters are those of the environment."""
        self._next_lineup = Lineup(self.table, opponents, pool)

    @property
    def table(self) -> Table:
        """The game itself: legal actions and events in words, scores, ranks, the record."""
        return self._episode.table

    def layout(self) -> Layout:
        """The parts of an observation vector by name, in their order, each with its shape and meaning."""
        return self._episode.observer.layout

    # Playing

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Deal a new game and play it until the learner decides. The options are those of TableEnv.reset.

        The same seed gives the same deal for any opponents. An error in the options leaves the current game as it is.
        """
        check_seed(seed)
        opening = self._episode.opening(options)
        super().reset(seed=None if seed is None else int(seed))
        if seed is not None or self._seeds.number < 0:
            self._seeds.restart(self.np_random)
        self._is_on = False
        for _ in range(_DEALS):
            self._begin(opening)
            if self._episode.mover != NOBODY:
                break
            if options and options.get("position") is not None:
                raise BadOption(f"seat {self.seat} has nothing left to decide in this position; choose another seat or position")
            opening = self._episode.opening(options)
        else:
            raise NotSupported(f"seat {self.seat} had nothing to decide in {_DEALS} games in a row; choose another seat or other opponents")
        if self.render_mode == "human":
            self.render()
        result = self._observation(), self._info()
        self._is_on = True
        return result

    def _begin(self, opening: tuple[Table, Script]) -> None:
        """Deal, choose the learner's seat and the opponents, and play until the learner decides or the game is over."""
        self._seeds.next_game()
        self._episode.begin(opening, self._seeds.rng(CHANCE))
        self._payer.begin(self.table)
        players = self.table.players
        if self._seat_rule == "random":
            self.seat = int(below(self._seeds.rng(SEAT), players))
        elif self._seat_rule == "rotate":
            self.seat = self._seeds.number % players
        self._dice = self._seeds.rng(DICE)
        self._lineup = self._next_lineup
        self._lineup.draw(self._seeds)
        self._compile_opponents()
        with first_use(self._compiled.player, self.table.game):
            self._go_on(NO_ACTION)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Carry out the learner's action, and play on until it decides again or the game is over."""
        self._episode.check()
        if not self._is_on:
            raise WrongOrder("there is no game to step in: the last one is over, or none has begun; call reset() first")
        number = self._episode.number(action)
        if number == NO_ACTION:
            return self._take_illegal(action)
        self._is_on = False  # stays so after an error, and after Ctrl-C
        self._go_on(number)
        is_over, reward, truncated = self._episode.mover == NOBODY, 0.0, False
        if is_over:
            truncated = is_truncated(self.table)
            reward = self._payer.at_end(self.table)[self.seat]
        elif self._payer.pays_gains:
            reward = self._payer.gains(self.table)[self.seat]
        if self.render_mode == "human":
            self.render()
        result = self._observation(), reward, is_over and not truncated, truncated, self._info()
        self._is_on = not is_over
        return result

    def _go_on(self, action: int) -> None:
        """Carry out an action, or NO_ACTION, and play on until the learner must choose or the game is over."""
        self._play_others(action)
        if self._skip_forced:
            while self._episode.mover != NOBODY and np.count_nonzero(self._episode.mask) == 1:
                self._play_others(int(self._episode.mask.argmax()))

    def _play_others(self, action: int) -> None:
        """Carry out an action, or NO_ACTION, and then the turns of the others, until the learner decides or the game is over."""
        episode = self._episode
        in_kernel = self._compiled.player is not None and not episode.script.goes_on
        while True:
            if in_kernel:
                episode.step_with(self._compiled, action, self._stops, self._dice)
            elif action != NO_ACTION:
                episode.step(action)
            if episode.mover in (self.seat, NOBODY):
                return
            action = self._chosen_by_other(episode.mover)

    def _compile_opponents(self) -> None:
        self._compiled = self._lineup.compiled(self.seat)
        self._stops = sum(1 << seat for seat in (self.seat, *self._compiled.asked))

    def _chosen_by_other(self, mover: int) -> int:
        """Ask the policy at this seat for an action. An error ends the game, because the next decision is not the learner's."""
        player = self._lineup.players[(mover - self.seat - 1) % self.table.players]
        try:
            if isinstance(player, BatchPolicy):
                decisions = Decisions(self._seeing, self.table.states[:1], np.array([mover], np.int64), [self._dice])
                action: Any = asked_for_actions(player, decisions)[0][0]
            else:
                action = player(self.table.view(mover))
            self._episode.check()  # a policy may have got hold of the table and changed it
            number = self._episode.number(action)
            if number == NO_ACTION:
                mistake = self._episode.illegal(action, self.seat)
                raise IllegalAction(f"the opponent {player} at seat {mover} makes a mistake: {mistake}")
        except BaseException as error:  # also Ctrl-C
            self._episode.break_off(f"{article(error)} in the opponent at seat {mover}")
            raise
        return number

    def _take_illegal(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        error = self._episode.illegal(action)
        if self.illegal == "raise":
            raise error
        warn_of_loss(self.table.game.name)
        self._is_on = False
        self._episode.stop()
        return self._observation(), forfeit(self.table, self.seat)[self.seat], True, False, {**self._info(), "illegal": str(error)}

    # Observing

    def _observation(self) -> Any:
        episode = self._episode
        vector = episode.observer.vector(episode.table.states, 0, self.seat)
        return vector if self._form == "vector" else in_form(self._form, episode.observer, vector, self._mask(), self._critic_vector())

    def _critic_vector(self) -> NDArray[np.float32] | None:
        return None if self._critic is None else self._critic.vector(self.table.states, 0, self.seat)

    def _mask(self) -> Mask:
        """Return a new mask of the learner's legal actions. At the end of a game it is all ones."""
        return self._episode.mask.copy() if self._episode.mover != NOBODY else np.ones(self._episode.n_actions, np.int8)

    def _info(self) -> dict[str, Any]:
        info: dict[str, Any] = {"action_mask": self._mask(), "seat": self.seat}
        if self._critic is not None:
            info[CRITIC] = self._critic_vector()
        if self._episode.mover == NOBODY:
            info.update(scores=np.array(self.table.scores(), np.int64), ranks=np.array(self.table.ranks(), np.int64))
            if self.with_record:
                info["record"] = self.table.record()
        return info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the mask of legal actions, all true at the end of a game. MaskablePPO of sb3-contrib calls this function by its name."""
        return self._mask().astype(np.bool_)

    def view(self) -> View:
        """Return the view of the learner's seat, for policies: `policy.act(env.view())`."""
        return self.table.view(self.seat)

    def record(self) -> str:
        """Return the game so far as text, which kdenv.replay plays again."""
        return self.table.record()

    def render(self) -> str | NDArray[np.uint8] | None:
        """Draw the position as the learner's seat sees it, as text, SVG or a picture; see render_mode. With "human" a window shows it."""
        return self._screen.render(self.table, self.seat)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._screen.close()

    def clone(self) -> SeatEnv:
        """Return an independent copy of this environment, with the same position, generators and opponents."""
        return copy.deepcopy(self)

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle everything but the compiled player, whose class may be unknown in another process."""
        return {**self.__dict__, "_compiled": CompiledOpponents(None, ())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._is_on:
            self._compile_opponents()
