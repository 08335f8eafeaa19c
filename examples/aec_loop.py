"""The shortest loops over a PettingZoo environment: with actions drawn from the mask, and with a policy in every seat.

python examples/aec_loop.py
"""

import kdenv
from kdenv import kingdomino_v0

env = kingdomino_v0.env(players=4)

# 1. Every seat takes a random legal action.
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    done = terminated or truncated
    env.step(None if done else env.action_space(agent).sample(observation["action_mask"]))
print("random:", env.table.scores())

# 2. The same deal is played by a policy in every seat. Each policy sees only what its seat may see.
policies = {agent: kdenv.policy("full_greedy" if agent == "player_0" else "random") for agent in env.possible_agents}
env.reset(seed=1)
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    done = terminated or truncated
    env.step(None if done else policies[agent].act(env.view(agent)))
print("full_greedy first, then random:", env.table.scores())
