"""A process that decides for programs. `python -m kdenv.server.worker` reads jobs from its input and writes answers to its output.

The server gives it whole tables, because it is ours; a policy gets only the View of its seat, which is made here. The memory of a policy
is sent with the job, so that every process can do every job and nothing is lost when one is killed.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import warnings
from pathlib import Path
from typing import Any, BinaryIO

from kdenv.core.errors import KdenvError, KdenvWarning
from kdenv.server.messages import HEAD, READY, Decision, Job, JobFailure

_MOST_POLICIES = 64  # that a process keeps, for their machine code and models


def do(job: Job, policies: dict[str, Any], ready: Any = lambda: None) -> Any:
    """Do a job. `policies` keeps policies by their texts from one job to the next; ready() is called before the clock starts."""
    from kdenv.policies import policy

    if job.text not in policies:
        if len(policies) >= _MOST_POLICIES:
            policies.pop(next(iter(policies)))
        policies[job.text] = policy(job.text)
    player = policies[job.text]
    player.reset(job.seed)
    view = job.table.view(job.seat)
    if job.memory:
        player.recall(pickle.loads(job.memory))
    player.prepare(view)
    ready()
    if job.analyse:
        return _found(player.search(view))
    action = int(player.act(view))
    return Decision(action, pickle.dumps(player.memory))


def _found(found: Any) -> dict[str, Any]:
    """The result of a search, in a form that JSON can have."""
    from kdenv.core.turns import actions_of, first_action
    from kdenv.server.teller import meaning_of_turn

    def number(value: float) -> float | None:
        return None if value != value else round(float(value), 4)

    total = sum(candidate.visits for candidate in found.candidates) or 1
    best, view = found.candidates[0], found.view
    return {
        "unit": found.unit,
        "value": number(best.mean),
        "half": number(best.half),
        "candidates": [
            {
                "action": int(first_action(candidate.turn)),
                "words": candidate.words,
                "meaning": meaning_of_turn(view.game, view.scratch(1), actions_of(candidate.turn), view.seat),
                "visits": candidate.visits,
                "share": round(candidate.visits / total, 4),
                "value": number(candidate.mean),
                "half": number(candidate.half),
                "line": candidate.line,
                "actions": [int(action) for action in actions_of(candidate.turn)],
            }
            for candidate in found.candidates
        ],
        "cost": {name: round(float(value), 4) for name, value in found.cost.items()},
    }


def main() -> None:
    """Answer jobs until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the server, which ends its processes
    warnings.simplefilter("ignore", KdenvWarning)
    sys.path.append(str(Path.cwd()))  # the folder that the operator allows, if there is one
    jobs, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # prints of a policy must not come between the answers
    policies: dict[str, Any] = {}
    while True:
        head = jobs.read(HEAD.size)
        if len(head) < HEAD.size:
            return
        job = pickle.loads(jobs.read(HEAD.unpack(head)[0]))
        try:
            answer = do(job, policies, lambda: _say(answers, READY))
        except KdenvError as error:
            answer = JobFailure(str(error))
        except Exception as error:
            answer = JobFailure(f"{job.text} failed ({type(error).__name__}: {' '.join(str(error).split())})")
        _say(answers, pickle.dumps(answer))


def _say(answers: BinaryIO, message: bytes) -> None:
    answers.write(HEAD.pack(len(message)) + message)
    answers.flush()


if __name__ == "__main__":
    main()
