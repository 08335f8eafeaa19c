"""`TableParallelEnv`: any game as a PettingZoo environment that steps all agents at once. Agents that do not decide wait."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from kdenv.core.errors import BadOption, WrongOrder, shown
from kdenv.core.game import Game
from kdenv.core.table import Table
from kdenv.core.view import View
from kdenv.envs.aec import TableEnv, env
from kdenv.envs.spaces import ActionSpace, Mask, space_of


class TableParallelEnv(ParallelEnv[str, Any, Any]):
    """A game whose agents all act in every step, where one of them decides and the others wait.

    There is one action more than in TableEnv: the last one, whose number is `wait`. It is the only action in the mask of an agent that
    waits, and never in the mask of the agent that decides. So each mask has an action, also after the end of a game. The action of an
    agent that waits is ignored.

    Args:
        table_env: The environment that plays the game, in which agents take turns.

    """

    def __init__(self, table_env: TableEnv) -> None:
        self.aec_env = table_env
        self.metadata = {**table_env.metadata, "is_parallelizable": True}
        self.render_mode = table_env.render_mode
        self.possible_agents = table_env.possible_agents
        self.state_space = table_env.state_space
        self.agents: list[str] = []
        episode = table_env._episode
        self.wait = episode.n_actions
        self._form = table_env._form
        self._observation_space = space_of(self._form, episode.observer, self.wait + 1)
        self._action_spaces = {agent: ActionSpace(self.wait + 1) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of observations. It is the same for all agents."""
        return self._observation_space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of all actions. The space of each agent has its own random generator."""
        return self._action_spaces[agent]

    @property
    def table(self) -> Table:
        """The game itself: legal actions and events in words, scores, ranks, the record."""
        return self.aec_env.table

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Deal a new game. The parameters are those of TableEnv.reset."""
        self.aec_env.reset(seed, options)
        self.agents = list(self.possible_agents)
        infos = self._infos()
        return self._observations(infos), infos

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Carry out the action of the agent that decides, and the chance after it."""
        if not self.agents:
            raise WrongOrder("the game is over, or none has begun; call reset() to deal a new one")
        inner = self.aec_env
        agent = inner.agent_selection
        if not isinstance(actions, dict) or agent not in actions:
            raise BadOption(f"the actions {shown(actions)} have none of {agent}, which decides; give a dict with an action for each agent")
        inner.step(actions[agent])
        infos = self._infos()
        results = self._observations(infos), dict(inner.rewards), dict(inner.terminations), dict(inner.truncations), infos
        if inner.terminations[agent] or inner.truncations[agent]:
            self.agents = []
        return results

    def _infos(self) -> dict[str, dict[str, Any]]:
        """Return the infos of all agents, with masks in which those wait that do not decide."""
        return {agent: {**info, "action_mask": self._with_wait(info["action_mask"])} for agent, info in self.aec_env.infos.items()}

    def _with_wait(self, mask: Mask) -> Mask:
        longer = np.zeros(self.wait + 1, np.int8)
        longer[: self.wait] = mask
        longer[self.wait] = not mask.any()
        return longer

    def _observations(self, infos: dict[str, dict[str, Any]]) -> dict[str, Any]:
        seen = {agent: self.aec_env.observe(agent) for agent in self.agents}
        if self._form != "dict":
            return seen
        return {agent: {**seen[agent], "action_mask": infos[agent]["action_mask"]} for agent in self.agents}

    def view(self, agent: str) -> View:
        """Return the view of an agent, for policies: `policy.act(env.view(agent))`."""
        return self.aec_env.view(agent)

    def state(self) -> NDArray[np.float32]:
        """Return the vectors of all seats, one after the other. In a game that hides nothing it is the vector of seat 0."""
        return self.aec_env.state()

    def record(self) -> str:
        """Return the game so far as text, which kdenv.replay plays again."""
        return self.aec_env.record()

    def render(self) -> str | NDArray[np.uint8] | None:
        """Draw the position with everything face up; see TableEnv.render."""
        return self.aec_env.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self.aec_env.close()


def parallel_env(game: str | Game = "kingdomino", players: int | None = None, **parameters: Any) -> TableParallelEnv:
    """Make a game for libraries that step all agents at once: a TableParallelEnv. The parameters are those of env().

    >>> from kdenv import kingdomino_v0
    >>> env = kingdomino_v0.parallel_env(players=2, size=3)
    >>> observations, infos = env.reset(seed=1)
    >>> while env.agents:
    ...     actions = {agent: observations[agent]["action_mask"].argmax() for agent in env.agents}
    ...     observations, rewards, terminations, truncations, infos = env.step(actions)
    >>> env.table.scores()
    [9, 13]
    """
    return TableParallelEnv(env(game, players, **parameters))
