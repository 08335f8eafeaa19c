"""Networks of fully connected layers for kernels. A network maps the observation of a seat to one number or several.

Most inputs of an observation are 0, and positions that are compared differ in few inputs. So the first layer adds only the weights of
inputs that are not 0. After `look` has read one position, `values` adds only the differences of another one. The kernels are:

    look(network, states, k, seat)         # reads a position from which the others differ little
    values(network, states, k, seat)       # reads a position and writes the outputs to network.layers[-1]
    value(network, states, k, seat)        # the same for networks with one output, which it returns

A network with one output may have several heads: last layers, of which each position takes one. Which one depends on how far the game is
(the verb `progress`). So a network of several heads can learn that things count more or less at the end.

All numbers are float32 and are added in the same order with and without compiling, so both give the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kdenv.compiler.kernel import kernel
from kdenv.core.encoding import observe_by
from kdenv.core.verbs import progress

Array = NDArray[np.float32]

TANH, RELU = range(2)
ACTIVATIONS = ("tanh", "relu")  # by these numbers
_BLOCK = 8  # words of two numbers that are compared at once
_0, _1 = np.float32(0.0), np.float32(1.0)

# tanh(x) is x * P(x * x) / Q(x * x) with these numbers, up to this x, to 4e-7 of itself (fitted to the least greatest relative error).
_END = np.float32(8.5)
_P0, _P1, _P2 = np.float32(9.999999883e-01), np.float32(1.341326967e-01), np.float32(3.534053401e-03)
_P3, _P4 = np.float32(2.125146408e-05), np.float32(1.426978122e-08)
_Q1, _Q2 = np.float32(4.674659244e-01), np.float32(2.602285351e-02)
_Q3, _Q4 = np.float32(3.348907456e-04), np.float32(8.145355661e-07)


class Network(NamedTuple):
    """A network and the buffers in which it computes. Threads may share weights, but not buffers: copy_for_thread makes new ones.

    Layer l has sizes[l] inputs and sizes[l + 1] outputs. Its weight from input i to output j is weights[weights_at[l] + i * outputs + j],
    its bias is weights[biases_at[l] + j]. The activation follows each layer but the last. With several heads, there are as many last
    layers, each with one output: first the weights of all, one after the other, then the biases.
    """

    encoding: Any  # the part that answers observe_by
    weights: Array
    sizes: NDArray[np.int64]
    weights_at: NDArray[np.int64]
    biases_at: NDArray[np.int64]
    activation: int
    heads: int
    head: NDArray[np.int64]  # [0]: the head for the position that was read last
    base: Array  # the inputs that `look` has read; zeros follow, so that it is a whole number of blocks
    base_words: NDArray[np.uint64]  # the same memory
    base_seen: Array  # the same memory, without the zeros that follow
    base_sums: Array  # what the first layer gives for them, before the activation
    now: Array  # the inputs that `values` has read
    now_words: NDArray[np.uint64]
    now_seen: Array
    found: NDArray[np.int64]  # the indices of the inputs that are not 0 in base: found[0] says how many, found[1] is the first
    changed: NDArray[np.int64]  # the same for the inputs of now that differ from base
    used: NDArray[np.int64]  # the same for the numbers of a layer that are not 0
    layers: Array  # row l: what layer l gives, after the activation


def network_of(encoding: Any, layers: Sequence[tuple[Array, Array]], activation: str, heads: int = 1) -> Network:
    """Make a network of these weights (one row for each output) and biases. It reads positions by the encoding (Observer.part).

    With several heads, the last layer has a row for each head, and there is a hidden layer.
    """
    sizes = [layers[0][0].shape[1], *(len(bias) for _, bias in layers)]
    sizes[-1] //= heads
    weights_at, biases_at, parts, at = [], [], [], 0
    for weight, bias in layers:
        weights_at.append(at)
        biases_at.append(at + weight.size)
        by_row = heads > 1 and bias is layers[-1][1]
        parts += [np.ascontiguousarray(weight if by_row else weight.T, np.float32).ravel(), np.asarray(bias, np.float32)]
        at += weight.size + bias.size
    places = np.array(sizes), np.array(weights_at), np.array(biases_at)
    return _with_buffers(encoding, np.concatenate(parts), *places, ACTIVATIONS.index(activation), heads)


def copy_for_thread(network: Network, encoding: Any) -> Network:
    """Make a network with the same weights and new buffers. The encoding must be a new part, too."""
    return _with_buffers(encoding, *network[1:7])


def layers_of(network: Network) -> list[tuple[Array, Array]]:
    """Copies of the weights, one row for each output or head, and of the biases, layer by layer."""
    found = []
    for i in range(len(network.weights_at)):
        n_in, n_out = int(network.sizes[i]), int(network.sizes[i + 1])
        at, bias_at = int(network.weights_at[i]), int(network.biases_at[i])
        if network.heads > 1 and i == len(network.weights_at) - 1:
            weight, n_out = network.weights[at:bias_at].reshape(network.heads, n_in), network.heads
        else:
            weight = network.weights[at:bias_at].reshape(n_in, n_out).T
        found.append((weight.copy(), network.weights[bias_at : bias_at + n_out].copy()))
    return found


def _with_buffers(encoding: Any, weights: Array, sizes: Any, weights_at: Any, biases_at: Any, activation: int, heads: int) -> Network:
    n = int(sizes[0])
    base, now = (np.zeros(-(-n // (2 * _BLOCK)) * 2 * _BLOCK, np.float32) for _ in range(2))
    return Network(
        encoding=encoding,
        weights=weights,
        sizes=sizes,
        weights_at=weights_at,
        biases_at=biases_at,
        activation=activation,
        heads=heads,
        head=np.zeros(1, np.int64),
        base=base,
        base_words=base.view(np.uint64),
        base_seen=base[:n],
        base_sums=np.zeros(int(sizes[1]), np.float32),
        now=now,
        now_words=now.view(np.uint64),
        now_seen=now[:n],
        found=np.zeros(n + 2 * _BLOCK + 1, np.int64),
        changed=np.zeros(n + 2 * _BLOCK + 1, np.int64),
        used=np.zeros(int(sizes[1:].max()) + 1, np.int64),
        layers=np.zeros((len(weights_at), int(sizes[1:].max())), np.float32),
    )


@kernel
def look(network, states, k, seat):
    """Read what the seat sees of states[k]. Call it before `values` is called for positions that differ little from this one."""
    observe_by(network.encoding, states, k, seat, network.base_seen)
    _choose_head(network, states, k)
    n_out = network.sizes[1]
    sums, at = network.base_sums, network.biases_at[0]
    for j in range(n_out):
        sums[j] = network.weights[at + j]
    _list_found(network)
    add_inputs(network.weights, network.weights_at[0], network.base, network.found, n_out, sums)


@kernel
def _list_found(network):
    """List the inputs of base that are not 0. There are no branches at single numbers, which the processor could not foresee."""
    base, words, found, n = network.base, network.base_words, network.found, 0
    for block in range(words.shape[0] // _BLOCK):
        first = block * _BLOCK
        some = np.uint64(0)
        for word in range(first, first + _BLOCK):
            some |= words[word]
        if some != np.uint64(0):
            for i in range(2 * first, 2 * (first + _BLOCK)):
                found[n + 1] = i
                n += 1 if base[i] != _0 else 0
    found[0] = n


@kernel
def _list_changed(network):
    """List the inputs in which now differs from base, in the same way."""
    base, now, changed, n = network.base, network.now, network.changed, 0
    for block in range(network.now_words.shape[0] // _BLOCK):
        first = block * _BLOCK
        different = np.uint64(0)
        for word in range(first, first + _BLOCK):
            different |= network.base_words[word] ^ network.now_words[word]
        if different != np.uint64(0):
            for i in range(2 * first, 2 * (first + _BLOCK)):
                changed[n + 1] = i
                n += 1 if now[i] != base[i] else 0
    changed[0] = n


@kernel
def values(network, states, k, seat):
    """Write what the network gives for what the seat sees of states[k] to the last of network.layers."""
    read(network, states, k, seat)
    take_changed(network)
    go_on_from_first_layer(network)


@kernel
def read(network, states, k, seat):
    """Read what the seat sees of states[k], and list in which inputs it differs from the position that `look` has read."""
    observe_by(network.encoding, states, k, seat, network.now_seen)
    _choose_head(network, states, k)
    _list_changed(network)


@kernel
def _choose_head(network, states, k):
    """Choose the head for states[k]. The game is cut into as many parts as there are heads."""
    if network.heads > 1:
        network.head[0] = min(int(progress(states[k]) * network.heads), network.heads - 1)


@kernel
def take_changed(network):
    """Write to layers[0] what the first layer gives for the position that `read` has read, before the activation."""
    take_base(network)
    _add_changed(network, network.layers[0])


@kernel
def move_base(network):
    """Put the position that `read` has read in the place of the one that `look` has read."""
    _add_changed(network, network.base_sums)
    for place in range(1, network.changed[0] + 1):
        network.base[network.changed[place]] = network.now[network.changed[place]]


@kernel
def _add_changed(network, sums):
    """Add what the changed inputs add to the sums of the first layer."""
    n_out = network.sizes[1]
    for place in range(1, network.changed[0] + 1):
        i = network.changed[place]
        add_input(network.weights, network.weights_at[0] + i * n_out, network.now[i] - network.base[i], n_out, sums)


@kernel
def value(network, states, k, seat):
    """Return the number that the network gives for what the seat sees of states[k]."""
    values(network, states, k, seat)
    return network.layers[network.weights_at.shape[0] - 1, 0]


@kernel
def value_alone(network, states, k, seat):
    """Return the same as `value` for a position that is compared with no other: it is read once, by `look`."""
    look(network, states, k, seat)
    take_base(network)
    go_on_from_first_layer(network)
    return network.layers[network.weights_at.shape[0] - 1, 0]


@kernel
def values_of(network, outputs, n):
    """Write the first n of these outputs to the last of network.layers, for the position that `look` has read; others are not computed.

    A network for actions has hundreds or thousands of outputs, and few of them are legal. It has one head.
    """
    take_base(network)
    last = network.weights_at.shape[0] - 1
    for layer in range(1, last):
        _go_on(network, layer)
    if last == 0:
        return
    n_in, n_out = network.sizes[last], network.sizes[last + 1]
    before, sums, at = network.layers[last - 1], network.layers[last], network.weights_at[last]
    weights, used = network.weights, network.used
    _activate(network.activation, before, n_in)
    for place in range(n):
        sums[outputs[place]] = weights[network.biases_at[last] + outputs[place]]
    list_used(before, n_in, used)
    first = 1
    while first + 3 <= used[0]:  # four at a time, as in add_inputs
        a, b, c, d = used[first], used[first + 1], used[first + 2], used[first + 3]
        of_a, of_b, of_c, of_d = before[a], before[b], before[c], before[d]
        a, b, c, d = at + a * n_out, at + b * n_out, at + c * n_out, at + d * n_out
        for place in range(n):
            j = outputs[place]
            sums[j] = sums[j] + of_a * weights[a + j] + of_b * weights[b + j] + of_c * weights[c + j] + of_d * weights[d + j]
        first += 4
    for rest in range(first, used[0] + 1):
        for place in range(n):
            sums[outputs[place]] += before[used[rest]] * weights[at + used[rest] * n_out + outputs[place]]


@kernel
def take_base(network):
    """Write to layers[0] what the first layer gives for the position that `look` has read, before the activation."""
    for j in range(network.sizes[1]):
        network.layers[0, j] = network.base_sums[j]


@kernel
def go_on_from_first_layer(network):
    """Compute the other layers from layers[0], which holds the sums of the first layer, before the activation."""
    for layer in range(1, network.weights_at.shape[0]):
        _go_on(network, layer)


@kernel
def _go_on(network, layer):
    """Compute the sums of a layer from those of the layer before it, which go through the activation."""
    n_in, n_out = network.sizes[layer], network.sizes[layer + 1]
    before, sums = network.layers[layer - 1], network.layers[layer]
    _activate(network.activation, before, n_in)
    if n_out == 1:
        head = network.head[0] if layer == network.weights_at.shape[0] - 1 else 0
        of_inputs = product(network.weights, network.weights_at[layer] + head * n_in, before, n_in)
        sums[0] = network.weights[network.biases_at[layer] + head] + of_inputs
        return
    for j in range(n_out):
        sums[j] = network.weights[network.biases_at[layer] + j]
    list_used(before, n_in, network.used)
    add_inputs(network.weights, network.weights_at[layer], before, network.used, n_out, sums)


@kernel
def list_used(numbers, n, used):
    """List which of the first n numbers are not 0, as in Network.found."""
    n_used = 0
    for i in range(n):
        used[n_used + 1] = i
        n_used += 1 if numbers[i] != _0 else 0
    used[0] = n_used


@kernel
def add_inputs(weights, at, numbers, listed, n_out, sums):
    """Add the weights of the listed inputs (see Network.found), times their numbers, to the sums, one input after the other.

    Four inputs share a loop over the sums, so that each sum is read and written once for all four. They are added in the same order.
    """
    first = 1
    while first + 3 <= listed[0]:
        a, b, c, d = listed[first], listed[first + 1], listed[first + 2], listed[first + 3]
        of_a, of_b, of_c, of_d = numbers[a], numbers[b], numbers[c], numbers[d]
        # max shows the compiler that no index is negative; otherwise it does not vectorize the loop
        a, b, c, d = max(at + a * n_out, 0), max(at + b * n_out, 0), max(at + c * n_out, 0), max(at + d * n_out, 0)
        for j in range(n_out):
            sums[j] = sums[j] + of_a * weights[a + j] + of_b * weights[b + j] + of_c * weights[c + j] + of_d * weights[d + j]
        first += 4
    for rest in range(first, listed[0] + 1):
        i = listed[rest]
        add_input(weights, at + i * n_out, numbers[i], n_out, sums)


@kernel
def add_input(weights, at, number, n_out, sums):
    """Add the n_out weights from `at` on, times this number, to the sums."""
    at = max(at, 0)  # as in add_inputs
    for j in range(n_out):
        sums[j] += number * weights[at + j]


@kernel
def product(weights, at, numbers, n):
    """Return the sum of n weights from `at` on, each times its number. Eight sums side by side take half the time of one."""
    at = max(at, 0)  # as in add_inputs
    a = b = c = d = e = f = g = h = _0
    i = 0
    while i + 8 <= n:
        a += numbers[i] * weights[at + i]
        b += numbers[i + 1] * weights[at + i + 1]
        c += numbers[i + 2] * weights[at + i + 2]
        d += numbers[i + 3] * weights[at + i + 3]
        e += numbers[i + 4] * weights[at + i + 4]
        f += numbers[i + 5] * weights[at + i + 5]
        g += numbers[i + 6] * weights[at + i + 6]
        h += numbers[i + 7] * weights[at + i + 7]
        i += 8
    for rest in range(i, n):
        a += numbers[rest] * weights[at + rest]
    return ((a + e) + (c + g)) + ((b + f) + (d + h))


@kernel
def _activate(activation, numbers, n):
    if activation == RELU:
        for j in range(n):
            numbers[j] = max(numbers[j], _0)
    else:
        for j in range(n):
            numbers[j] = _tanh(numbers[j])


@kernel
def derive_activation(activation, outputs, n, slopes):
    """Multiply the slopes by the derivative of the activation, which has these outputs."""
    if activation == RELU:
        for i in range(n):
            slopes[i] = slopes[i] if outputs[i] > _0 else _0
    else:
        for i in range(n):
            slopes[i] *= _1 - outputs[i] * outputs[i]


@kernel
def _tanh(x):
    """tanh, the same with and without compiling.

    It calls nothing and has no branch, so eight are computed at a time, in a fortieth of the time of the one in the library of C.
    """
    x = _END if x > _END else x
    x = -_END if x < -_END else x
    u = x * x
    above = x * (_P0 + u * (_P1 + u * (_P2 + u * (_P3 + u * _P4))))
    return np.divide(above, _1 + u * (_Q1 + u * (_Q2 + u * (_Q3 + u * _Q4))))  # unlike /, it does not ask whether it divides by 0
