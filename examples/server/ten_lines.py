"""An agent in ten lines, with the requests as one would type them.

python examples/server/ten_lines.py http://127.0.0.1:8000 GAME NAME
"""

import json
import sys
import urllib.request


def ask(method, path, body=None, token=""):
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    url, data = f"{sys.argv[1]}/api/v1/games/{sys.argv[2]}{path}", body and json.dumps(body).encode()
    return json.load(urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method)))


token = ask("POST", "/join", {"name": sys.argv[3]})["token"]
state = ask("GET", "/seat", token=token)
while state["status"] != "over":
    if state["legal"]:
        state = ask("POST", "/act", {"step": state["step"], "action": state["legal"][0]["action"]}, token)
    else:
        state = ask("GET", f"/seat?since={state['step']}&wait=20", token=token)
print(state["scores"])
