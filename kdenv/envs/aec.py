"""`TableEnv`: any game as a PettingZoo environment, where every seat is an agent and agents take turns.

The environment itself makes the checks that PettingZoo puts into wrappers (order of calls, bounds, illegal actions), in a thirtieth
of the time. So env() has no wrappers either: it differs from raw_env() only in the effect of an illegal action. One kernel call per step
carries out the action and the chance after it, and finds the legal actions and the seat that decides. Observations are computed on request.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from numpy.typing import NDArray

from kdenv.core.encoding import Layout
from kdenv.core.errors import BadOption, IllegalAction, WrongOrder, shown
from kdenv.core.fields import check_seed
from kdenv.core.game import Game
from kdenv.core.table import Table
from kdenv.core.view import View
from kdenv.envs.episode import Episode, article
from kdenv.envs.pettingzoo_aec import AECEnv
from kdenv.envs.rendering import MODES, Screen
from kdenv.envs.rewards import Payer, Reward, forfeit, is_truncated
from kdenv.envs.seeds import CHANCE, Seeds
from kdenv.envs.setup import Setup, empty_table
from kdenv.envs.spaces import ActionSpace, in_form, space_of, state_box
from kdenv.envs.step_kernel import NO_ACTION, NOBODY, Mask
from kdenv.envs.validation import warn_of_loss

_FROM_RESET = ("agents", "agent_selection", "rewards", "terminations", "truncations", "infos", "np_random", "_cumulative_rewards")


class TableEnv(AECEnv[str, Any, Any]):
    """A game as an environment for all its seats, which are the agents player_0, player_1 ...

    Args:
        game: The name of a game, or a Game.
        players: The number of seats; None is the usual number of the game.
        observation: The form of an observation. With "dict" it is {"observation": float32 vector, "action_mask": int8 vector}. With
            "vector" it is the vector alone. With "parts" it is a dict of the vector's parts in the shapes of layout(). The mask is always
            in infos[agent]["action_mask"], too.
        reward: One of "win", "rank", "margin", "score" and "gains", a function or an ArrayReward. A function gets the table at the end of a
            game and returns a number for each seat.
        illegal: The effect of an action that is not legal. "raise" raises IllegalAction and changes nothing. "terminate" warns and ends the
            game as a loss of the seat that decides. The default is "raise" here and in raw_env(), and "terminate" in env().
        encoding: The name of one of `game.encodings`; None is the first of them.
        skip_forced: Whether the environment carries out the only legal action itself, without asking the agent.
        render_mode: One of "human" (a window), "ansi" (text), "svg" and "rgb_array" (a picture), or None.
        options: The options of the game.

    Nothing is dealt before reset(). Then there are the attributes of PettingZoo, `table` (the game, to look at) and `np_random`, from which
    the seeds of all games are drawn. The mask of an agent that is not to move is all zeros. All arrays are new and are never written to
    again. step() raises WrongOrder after somebody else has changed the table; change `table.clone()` instead.

    """

    metadata: dict[str, Any] = {"name": "kdenv", "render_modes": list(MODES), "render_fps": 1, "is_parallelizable": False}  # noqa: RUF012

    def __init__(
        self,
        game: str | Game = "kingdomino",
        players: int | None = None,
        *,
        observation: str = "dict",
        reward: Reward = "win",
        illegal: str = "raise",
        encoding: str | None = None,
        skip_forced: bool = False,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        empty = empty_table(game, players, options, type(self))
        setup = Setup(
            empty=empty,
            observation=observation,
            reward=reward,
            illegal=illegal,
            encoding=encoding,
            skip_forced=skip_forced,
            render_mode=render_mode,
        )
        name = f"{empty.game.name}_v0"
        self.metadata = {**self.metadata, "name": name}
        self.reward, self.illegal, self.render_mode = reward, illegal, render_mode
        self.possible_agents = [f"player_{seat}" for seat in range(empty.players)]
        self._payer = Payer(reward)
        self._form, self._skip_forced = observation, skip_forced
        self._episode = Episode(setup)
        self._seeds = Seeds()
        self._screen = Screen(render_mode, name)
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._observation_space = space_of(observation, self._episode.observer, self._episode.n_actions)
        self._action_spaces = {agent: ActionSpace(self._episode.n_actions) for agent in self.possible_agents}
        self._state_seats = 1 if empty.game.open_information else empty.players
        self.state_space = state_box(self._episode.observer, self._state_seats)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of observations. It is the same for all agents."""
        return self._observation_space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of all actions. The space of each agent has its own random generator."""
        return self._action_spaces[agent]

    @property
    def table(self) -> Table:
        """The game itself: legal actions and events in words, scores, ranks, the record."""
        return self._episode.table

    def layout(self) -> Layout:
        """The parts of an observation vector by name, in their order, each with its shape and meaning."""
        return self._episode.observer.layout

    # Playing

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a new game. An error in the options leaves the current game as it is.

        Args:
            seed: Seeds the generator of the games. Without a seed the next game of this generator is dealt.
            options: The key "script" has a list of outcomes of chance, as numbers or in words as in records. They happen in this order; the
                outcomes after them are drawn. The key "position" has a text of `table.position()`, from which the game starts.

        """
        check_seed(seed)
        opening = self._episode.opening(options)
        if seed is not None or "np_random" not in self.__dict__:
            self.np_random, _ = seeding.np_random(None if seed is None else int(seed))
            self._seeds.restart(self.np_random)
        self._seeds.next_game()
        self._episode.begin(opening, self._seeds.rng(CHANCE))
        self._payer.begin(self.table)
        agents = self.possible_agents
        self.agents = list(agents)
        self.rewards = dict.fromkeys(agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(agents, 0.0)
        self.terminations = dict.fromkeys(agents, False)
        self.truncations = dict.fromkeys(agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {"action_mask": self._no_action()} for agent in agents}
        self._go_on(self._episode.mover)
        if self.render_mode == "human":
            self.render()

    def step(self, action: Any) -> None:
        """Carry out the action of the selected agent and the chance after it. For an agent that has finished the action must be None."""
        try:
            agent = self.agent_selection
            if self.terminations[agent] or self.truncations[agent]:
                self._was_dead_step(action)
                return
        except KeyError:
            raise WrongOrder("the game is over and every agent has left; reset() deals a new one") from None
        episode = self._episode
        episode.check()
        number = episode.number(action)
        if number == NO_ACTION:
            self._take_illegal(agent, action)
        else:
            try:
                self._carry_out(agent, number)
            except BaseException as error:  # also Ctrl-C
                episode.break_off(f"{article(error)} in a step")
                raise
        if self.render_mode == "human":
            self.render()

    def _carry_out(self, agent: str, action: int) -> None:
        """Carry out a legal action of this agent and the chance after it, and select the next agent."""
        mover = self._episode.step(action)
        self.infos[agent] = {"action_mask": self._no_action()}
        self._cumulative_rewards[agent] = 0.0
        if mover == NOBODY or self._skip_forced or self._payer.pays_gains:
            self._go_on(mover)
        else:
            self._select(mover)

    def _no_action(self) -> Mask:
        return np.zeros(self._episode.n_actions, np.int8)

    def _go_on(self, mover: int) -> None:
        """Make it the turn of this seat, or end the game if it is NOBODY. With skip_forced=True make decisions here that are forced."""
        episode = self._episode
        while self._skip_forced and mover != NOBODY and np.count_nonzero(episode.mask) == 1:
            mover = episode.step(int(episode.mask.argmax()))
        if mover == NOBODY:
            self._end(self._payer.at_end(self.table), is_truncated(self.table))
            return
        if self._payer.pays_gains:
            self._pay(self._payer.gains(self.table))
        self._select(mover)

    def _select(self, mover: int) -> None:
        """Make it the turn of this seat."""
        agent = self.agent_selection = self.possible_agents[mover]
        self.infos[agent] = {"action_mask": self._episode.mask.copy()}

    def _take_illegal(self, agent: str, action: Any) -> None:
        error = self._episode.illegal(action)
        if self.illegal == "raise":
            raise error
        warn_of_loss(self.table.game.name)
        self._episode.stop()
        self._cumulative_rewards[agent] = 0.0
        self.infos[agent] = {"action_mask": self._no_action(), "illegal": str(error)}
        self._end(forfeit(self.table, self._seats[agent]), False)

    def _end(self, rewards: list[float], truncated: bool) -> None:
        """End the game and give out the rewards. After this every agent leaves by step(None)."""
        self._pay(rewards)
        self.terminations = dict.fromkeys(self.agents, not truncated)
        self.truncations = dict.fromkeys(self.agents, truncated)
        self.agent_selection = self.agents[0]

    def _pay(self, rewards: list[float]) -> None:
        """Give out the rewards of a step. By last() each agent gets the sum of its rewards since its own last step."""
        self.rewards = dict(zip(self.agents, rewards, strict=True))
        for agent, reward in self.rewards.items():
            self._cumulative_rewards[agent] += reward

    def _was_dead_step(self, action: Any) -> None:
        """Let an agent that has finished leave."""
        agent = self.agent_selection
        if action is not None:
            raise IllegalAction(f"{agent} has finished, so its last step must be step(None), not step({shown(action)})")
        self.agents.remove(agent)
        for by_agent in (self.rewards, self._cumulative_rewards, self.terminations, self.truncations, self.infos):
            del by_agent[agent]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        if self.agents:
            self.agent_selection = self.agents[0]

    # Observing

    def observe(self, agent: str) -> Any:
        """Return the observation of an agent, in the form chosen by the parameter `observation`."""
        try:
            seat = self._seats[agent]
        except KeyError:
            raise BadOption(f"there is no agent {shown(agent)}; the agents are {', '.join(self.possible_agents)}") from None
        info = self.infos.get(agent)
        mask = self._no_action() if info is None else info["action_mask"]
        vector = self._episode.observation(seat)
        if self._form == "dict":
            return {"observation": vector, "action_mask": mask}
        return in_form(self._form, self._episode.observer, vector, mask)

    def view(self, agent: str) -> View:
        """Return the view of an agent, for policies: `policy.act(env.view(agent))`."""
        self._check_reset("view")
        return self.table.view(self._seats[agent])

    def state(self) -> NDArray[np.float32]:
        """Return the vectors of all seats, one after the other. In a game that hides nothing it is the vector of seat 0."""
        self._check_reset("state")
        return np.concatenate([self._episode.observation(seat) for seat in range(self._state_seats)])

    def record(self) -> str:
        """Return the game so far as text, which kdenv.replay plays again."""
        self._check_reset("record")
        return self.table.record()

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """Yield the agent whose turn it is, until all agents have left or max_iter steps have been taken."""
        self._check_reset("agent_iter")
        return self._iterate(max_iter)

    def _iterate(self, left: int) -> Iterator[str]:
        while left > 0 and self.agents:
            yield self.agent_selection
            left -= 1

    def render(self) -> str | NDArray[np.uint8] | None:
        """Draw the position with everything face up, as text, SVG or a picture; see render_mode. With "human" a window shows it."""
        self._check_reset("render")
        return self._screen.render(self.table)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._screen.close()

    # Copies

    def clone(self) -> TableEnv:
        """Return an independent copy of this environment, with the same position and the same generators."""
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> TableEnv:
        twin = object.__new__(type(self))
        memo[id(self)] = twin
        for shared in (self._observation_space, self.state_space):  # these never change
            memo[id(shared)] = shared
        twin.__dict__.update({name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()})
        return twin

    # Calls before the first reset

    def _check_reset(self, call: str) -> None:
        if "agents" not in self.__dict__:
            raise WrongOrder(f"nothing has been dealt, so {call}() has nothing to return; call reset() first")

    if TYPE_CHECKING:

        def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]: ...  # PettingZoo's has no types

    else:  # to a type checker, an attribute that is not there is an error

        def __getattr__(self, name: str) -> Any:
            if name in _FROM_RESET:
                raise WrongOrder(f"nothing has been dealt, so there is no {name} yet; call reset() first")
            raise AttributeError(f"{type(self).__name__} has no attribute {name}")


def env(game: str | Game = "kingdomino", players: int | None = None, *, illegal: str = "terminate", **parameters: Any) -> TableEnv:
    """Make a game for PettingZoo: a TableEnv in which an illegal action is a loss. The parameters are those of TableEnv.

    >>> from kdenv import kingdomino_v0
    >>> env = kingdomino_v0.env(players=2, size=3)
    >>> env.reset(seed=1)
    >>> for agent in env.agent_iter():
    ...     observation, reward, terminated, truncated, info = env.last()
    ...     env.step(None if terminated or truncated else observation["action_mask"].argmax())
    >>> env.table.scores()
    [9, 13]
    """
    return TableEnv(game, players, illegal=illegal, **parameters)


def raw_env(game: str | Game = "kingdomino", players: int | None = None, **parameters: Any) -> TableEnv:
    """Make a game for PettingZoo: a TableEnv in which an illegal action is an error."""
    return TableEnv(game, players, **parameters)
