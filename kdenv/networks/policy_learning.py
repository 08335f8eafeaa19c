"""Learning of networks that score turns, from rollouts of self-play: proximal policy optimisation (Schulman and others 2017).

The policy is the softmax of the scores of the positions after the legal actions, as the seat to move sees them. A second output of the
network predicts the value of the position before the action. Both outputs share the hidden layers.

`play_games` (rollout.py) fills a Rollout with the decisions of whole games, and estimates their advantages. `add_gradients` adds the
gradients of an objective for some of these decisions. `step_by_adam` changes the weights.

An objective says what is learned from the decisions. That of PPO is here, that of expert iteration in expert.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.compiler.question import answers, question
from kdenv.core.game import Game
from kdenv.networks.network import (
    Array,
    Network,
    add_input,
    add_inputs,
    derive_activation,
    go_on_from_first_layer,
    list_used,
    product,
    take_base,
)
from kdenv.networks.players import Goal
from kdenv.networks.self_play import N_SUMS
from kdenv.search.softmax import log_softmax

_0, _1 = np.float32(0.0), np.float32(1.0)
_MEAN_DECAY, _SQUARE_DECAY, _EPSILON = np.float32(0.9), np.float32(0.999), np.float32(1e-5)  # of Adam


class PolicyLearner(NamedTuple):
    """A network that learns, and the buffers for it. Threads share the weights and `turned`, and nothing else."""

    network: Network
    weights: Array  # of the network, and then of its second output; by head, each with its bias last
    turned: Array  # the weights of the network's layers but the first, each layer transposed
    goal: Goal
    gradients: Array  # by weight: summed over decisions
    kept: Array  # [action, layer, unit]: the outputs of hidden layers for the position after each action
    slopes: Array  # row l: the derivative of the loss by the sums of layer l, before the activation
    common: Array  # the slopes of the first layer, summed over the actions of a decision
    summed: Array  # the same, with those of the value
    scores: NDArray[np.float64]  # of the actions of a decision; then the derivatives of the loss by them
    log_odds: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    states: Any  # 0: the game; 1: the same as the seat to move sees it; 2: after an action, and scratch of guides
    next_value: NDArray[np.float64]  # by seat: the value of its next decision, or of the end of the game
    next_advantage: NDArray[np.float64]
    points: NDArray[np.int64]
    sums: NDArray[np.float64]  # statistics since they were set to 0, as those of learning.Learner


class Objective(NamedTuple):
    """The loss of a batch of PPO: its parts and their weights."""

    clip: float  # how far the ratio of probabilities may be from 1
    entropy: float  # the weight of the entropy of the policy
    value_weight: float  # the weight of the squared error of the value


@question
def derive_scores(objective, learner, rollout, d, n, share):
    """Write the derivatives of the loss of decision d by the scores of its n actions to learner.scores; return this part of the loss.

    Both are times `share`. learner.log_odds has the policy.
    """


def n_weights(network: Network) -> int:
    """Return the number of weights of a learner with this network."""
    return len(network.weights) + network.heads * (int(network.sizes[-2]) + 1)


def policy_learner(network: Network, weights: Array, turned: Array, goal: Goal, game: Game, players: int) -> PolicyLearner:
    """Make a learner with new buffers. Its network is a new one that takes the first of the weights."""
    n_layers, width = network.layers.shape
    return PolicyLearner(
        network=network._replace(weights=weights[: len(network.weights)]),
        weights=weights,
        turned=turned,
        goal=goal,
        gradients=np.zeros_like(weights),
        kept=np.zeros((game.max_legal, n_layers, width), np.float32),
        slopes=np.zeros((n_layers, width), np.float32),
        common=np.zeros(width, np.float32),
        summed=np.zeros(width, np.float32),
        scores=np.zeros(game.max_legal),
        log_odds=np.zeros(game.max_legal),
        probabilities=np.zeros(game.max_legal),
        states=np.zeros(3, game.state_dtype),
        next_value=np.zeros(players),
        next_advantage=np.zeros(players),
        points=np.zeros(players, np.int64),
        sums=np.zeros(N_SUMS),
    )


@kernel
def add_gradients(learner, rollout, order, first, end, n_batch, objective):
    """Add the gradients of the loss for the decisions order[first] to order[end - 1] of a batch of n_batch; return their part of the loss.

    The loss of a decision is that of its policy, by the objective, plus value_weight * (value - target)^2, divided by n_batch.
    """
    loss = 0.0
    for place in range(first, end):
        loss += _learn_decision(learner, rollout, order[place], 1.0 / n_batch, objective)
    return loss


@kernel
def _learn_decision(learner, rollout, d, share, objective):
    """Add the gradients of the loss of a decision, times `share`, and return this part of the loss."""
    network, scores, log_odds, kept = learner.network, learner.scores, learner.log_odds, learner.kept
    first = rollout.lists_at[d]
    n = rollout.lists_at[d + 1] - first - 1
    last, n_out = network.weights_at.shape[0] - 1, network.sizes[1]
    n_last, at_last, biases_at, heads = network.sizes[last], network.weights_at[last], network.biases_at[last], rollout.heads
    # 1. The value, and at once the way back from its error to the first layer.
    base, sums = network.base_sums, network.layers[0]
    for j in range(n_out):
        base[j] = network.weights[network.biases_at[0] + j]
    _add_list(network, rollout, first, base)
    take_base(network)
    network.head[0] = heads[first]
    go_on_from_first_layer(network)
    error = value_of_hidden(learner) - rollout.targets[d]
    loss = share * objective.value_weight * error * error
    own = _second_output_at(network)
    _go_back(learner, network.layers, np.float32(2.0 * share * objective.value_weight * error), own, own + n_last)
    for j in range(n_out):
        learner.summed[j] = learner.slopes[0, j]
    # 2. The scores of all actions. The outputs of hidden layers are kept for the way back.
    _add_list(network, rollout, first + 1, base)
    for i in range(n):
        for j in range(n_out):
            sums[j] = base[j]
        if i > 0:
            _add_list(network, rollout, first + 1 + i, sums)
        network.head[0] = heads[first + 1 + i]
        go_on_from_first_layer(network)
        scores[i] = float(network.layers[last, 0])
        for layer in range(last):
            for j in range(network.sizes[layer + 1]):
                kept[i, layer, j] = network.layers[layer, j]
    # 3. The loss, and its derivatives by the scores.
    log_softmax(scores, n, log_odds)
    loss += derive_scores(objective, learner, rollout, d, n, share)
    # 4. Back through the layers. What positions have in common in the first layer is added once, for the sum of their slopes.
    common = learner.common
    for j in range(n_out):
        common[j] = _0
    for i in range(n):
        head = heads[first + 1 + i]
        _go_back(learner, kept[i], np.float32(scores[i]), at_last + head * n_last, biases_at + head)
        add_input(learner.slopes[0], 0, _1, n_out, common)
        if i > 0:
            _add_slopes(learner, rollout, first + 1 + i, learner.slopes[0])
    _add_slopes(learner, rollout, first + 1, common)
    add_input(common, 0, _1, n_out, learner.summed)
    _add_slopes(learner, rollout, first, learner.summed)
    _add_product(learner.gradients, network.biases_at[0], _1, learner.summed, n_out)
    return loss


@answers(derive_scores, Objective)
@kernel
def _derive_clipped(objective, learner, rollout, d, n, share):
    """Derive the loss of PPO: -min(r A, clip(r) A) - entropy * H.

    A is the advantage of the action, and H the entropy of the policy. The ratio r is the probability of the action now, divided by that
    when it was drawn.
    """
    scores, log_odds = learner.scores, learner.log_odds
    chosen, advantage = rollout.chosen[d], rollout.advantages[d]
    ratio, entropy = np.exp(log_odds[chosen] - rollout.log_probabilities[d]), 0.0
    clipped = min(max(ratio, 1.0 - objective.clip), 1.0 + objective.clip)
    gain = min(ratio * advantage, clipped * advantage)
    for i in range(n):
        learner.probabilities[i] = np.exp(log_odds[i])
        entropy -= learner.probabilities[i] * log_odds[i]
    # The derivative by the logarithm of the probability of the action. It is 0 where the ratio is clipped.
    push = -share * ratio * advantage if ratio * advantage <= clipped * advantage else 0.0
    for i in range(n):
        p = learner.probabilities[i]
        scores[i] = share * objective.entropy * p * (log_odds[i] + entropy) - push * p
    scores[chosen] += push
    return share * (-gain - objective.entropy * entropy)


@kernel
def _second_output_at(network):
    """Return where the weights of the second output begin in PolicyLearner.weights, for the head in use."""
    return network.weights.shape[0] + network.head[0] * (network.sizes[network.weights_at.shape[0] - 1] + 1)


@kernel
def value_of_hidden(learner):
    """Return the second output for the outputs of the last hidden layer in network.layers."""
    network, at = learner.network, _second_output_at(learner.network)
    last = network.weights_at.shape[0] - 1
    n = network.sizes[last]
    return float(learner.weights[at + n] + product(learner.weights, at, network.layers[last - 1], n))


@kernel
def _add_list(network, rollout, which, sums):
    """Add the first layer's weights of the inputs of a list, times their numbers, to the sums: four at a time, as add_inputs does."""
    weights, at, n_out = network.weights, network.weights_at[0], network.sizes[1]
    inputs, numbers = rollout.inputs, rollout.numbers
    place, end = rollout.entries_at[which], rollout.entries_at[which + 1]
    while place + 4 <= end:
        a, b = at + int(inputs[place]) * n_out, at + int(inputs[place + 1]) * n_out
        c, d = at + int(inputs[place + 2]) * n_out, at + int(inputs[place + 3]) * n_out
        a, b, c, d = max(a, 0), max(b, 0), max(c, 0), max(d, 0)  # as in add_inputs
        of_a, of_b, of_c, of_d = numbers[place], numbers[place + 1], numbers[place + 2], numbers[place + 3]
        for j in range(n_out):
            sums[j] = sums[j] + of_a * weights[a + j] + of_b * weights[b + j] + of_c * weights[c + j] + of_d * weights[d + j]
        place += 4
    for rest in range(place, end):
        add_input(weights, at + int(inputs[rest]) * n_out, numbers[rest], n_out, sums)


@kernel
def _add_slopes(learner, rollout, which, slopes):
    """Add the gradients of the first layer's weights for the inputs of a list."""
    gradients, at, n_out = learner.gradients, learner.network.weights_at[0], learner.network.sizes[1]
    inputs, numbers = rollout.inputs, rollout.numbers
    place, end = rollout.entries_at[which], rollout.entries_at[which + 1]
    while place + 3 <= end:  # three rows at a time; the inputs of a list are different ones
        a, b, c = at + int(inputs[place]) * n_out, at + int(inputs[place + 1]) * n_out, at + int(inputs[place + 2]) * n_out
        a, b, c = max(a, 0), max(b, 0), max(c, 0)  # as in add_inputs
        of_a, of_b, of_c = numbers[place], numbers[place + 1], numbers[place + 2]
        for j in range(n_out):
            gradients[a + j] += of_a * slopes[j]
            gradients[b + j] += of_b * slopes[j]
            gradients[c + j] += of_c * slopes[j]
        place += 3
    for rest in range(place, end):
        _add_product(gradients, at + int(inputs[rest]) * n_out, numbers[rest], slopes, n_out)


@kernel
def _go_back(learner, kept, slope, at, bias_at):
    """Backpropagation from an output to the sums of the first layer: set their slopes, and add the gradients of the other layers.

    The weights of the output begin at `at`. Row l of `kept` has the outputs of hidden layer l.
    """
    network, slopes, gradients = learner.network, learner.slopes, learner.gradients
    layer = network.weights_at.shape[0] - 2  # the last hidden one
    n, outputs, of_last = network.sizes[layer + 1], kept[layer], slopes[layer]
    at = max(at, 0)  # as in add_inputs
    for i in range(n):
        of_last[i] = slope * learner.weights[at + i]
        gradients[at + i] += slope * outputs[i]
    gradients[bias_at] += slope
    derive_activation(network.activation, outputs, n, of_last)
    while layer > 0:
        n_in, n_out, first = network.sizes[layer], network.sizes[layer + 1], network.weights_at[layer]
        before, mine, theirs = kept[layer - 1], slopes[layer], slopes[layer - 1]
        _add_product(gradients, network.biases_at[layer], _1, mine, n_out)
        for i in range(n_in):
            if before[i] != _0:
                _add_product(gradients, first + i * n_out, before[i], mine, n_out)
            theirs[i] = _0
        list_used(mine, n_out, network.used)
        add_inputs(learner.turned, first, mine, network.used, n_in, theirs)
        derive_activation(network.activation, before, n_in, theirs)
        layer -= 1


@kernel
def _add_product(gradients, at, x, slopes, n):
    """Add x times the first n slopes to the gradients from `at` on."""
    at = max(at, 0)  # as in add_inputs
    for j in range(n):
        gradients[at + j] += x * slopes[j]


@kernel
def transpose_layers(learner):
    """Write the weights of all layers but the first and the last to learner.turned, which must be done after each step."""
    network, turned = learner.network, learner.turned
    for layer in range(1, network.weights_at.shape[0] - 1):
        n_in, n_out, at = network.sizes[layer], network.sizes[layer + 1], network.weights_at[layer]
        for i in range(n_in):
            for j in range(n_out):
                turned[at + j * n_in + i] = network.weights[at + i * n_out + j]


@kernel
def step_by_adam(weights, gradients, means, squares, factor, rate, n_steps):
    """Make a step of Adam (Kingma and Ba 2015) with the gradients times this factor. n_steps counts the steps, with this one."""
    of_means = 1.0 - float(_MEAN_DECAY) ** n_steps
    of_squares = np.float32(1.0 / np.sqrt(1.0 - float(_SQUARE_DECAY) ** n_steps))
    pace, scale = np.float32(rate / of_means), np.float32(factor)
    for i in range(weights.shape[0]):
        gradient = gradients[i] * scale
        means[i] = _MEAN_DECAY * means[i] + (_1 - _MEAN_DECAY) * gradient
        squares[i] = _SQUARE_DECAY * squares[i] + (_1 - _SQUARE_DECAY) * (gradient * gradient)
        weights[i] -= np.divide(pace * means[i], np.sqrt(squares[i]) * of_squares + _EPSILON)
