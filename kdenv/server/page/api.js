// Asks the API, and keeps the tokens of the seats that are played in this browser.

export async function ask(method, path, { body, token, signal } = {}) {
  const headers = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(`/api/v1${path}`, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  const kind = answer.headers.get("content-type") || "";
  const content = kind.startsWith("application/json") ? await answer.json() : await answer.text();
  if (!answer.ok) throw Object.assign(new Error(content.error || `the server answered ${answer.status}`), { status: answer.status });
  return content;
}

export const get = (path, more) => ask("GET", path, more);
export const post = (path, body, more) => ask("POST", path, { body, ...more });

// The seats of this browser in a game: [{seat, token}, ...].
export function seatsOf(game) {
  return JSON.parse(localStorage.getItem(`kdenv ${game}`) || "[]");
}

export function keepSeat(game, seat, token) {
  localStorage.setItem(`kdenv ${game}`, JSON.stringify([...seatsOf(game), { seat, token }]));
}

export function forgetSeat(game, seat) {
  localStorage.setItem(`kdenv ${game}`, JSON.stringify(seatsOf(game).filter((each) => each.seat !== seat)));
}

export const myName = () => localStorage.getItem("kdenv name") || "";
export const keepName = (name) => localStorage.setItem("kdenv name", name);
