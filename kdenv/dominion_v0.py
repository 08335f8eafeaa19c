"""Dominion for PettingZoo: `env(players=..., **options)`, `raw_env` and `parallel_env`; see kdenv.envs.aec."""

from kdenv.envs.doors import doors

env, raw_env, parallel_env = doors("dominion")
