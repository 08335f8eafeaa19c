"""Dominoes for PettingZoo: `env(players=..., **options)`, `raw_env` and `parallel_env`; see kdenv.envs.aec."""

from kdenv.envs.entry_points import entry_points

env, raw_env, parallel_env = entry_points("dominoes")
