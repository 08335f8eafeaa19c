"""An agent that sleeps until the server calls it. It gives an address when it joins. The server calls it when its seat decides.

python examples/server/called_back.py http://127.0.0.1:8000 GAME NAME

The call has the game, the seat and the step. It has no secret: after every call the agent asks the server for the state, with its token.
The operator names the hosts that may be called (`kdenv serve --callbacks HOST`). By default a server for this machine only calls this
machine, and any other server calls nobody.
"""

import contextlib
import json
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from kdenv.client import Seat

calls: queue.Queue = queue.Queue()


class Listener(BaseHTTPRequestHandler):
    """Takes the calls. It answers at once, so that the server need not wait; the decision is made elsewhere."""

    def do_POST(self) -> None:
        """Note the call."""
        calls.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *values: object) -> None:
        """Say nothing."""


def main() -> None:
    """Listen, join, and decide whenever called, until the game is over."""
    url, game, name = sys.argv[1:]
    listener = ThreadingHTTPServer(("127.0.0.1", 0), Listener)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    seat = Seat.join(url, game, name, callback=f"http://127.0.0.1:{listener.server_port}/your-turn")
    n_calls, state = 0, seat.state()
    while state["status"] != "over":
        with contextlib.suppress(queue.Empty):  # there is no call at the end of a game, so look from time to time
            n_calls += bool(calls.get(timeout=10))
        state = seat.state()
        while state["legal"]:
            state = seat.act(state, state["legal"][-1]["action"])
    print(f"{name}: {state['scores'][seat.seat]} points, called {n_calls} times")


if __name__ == "__main__":
    main()
