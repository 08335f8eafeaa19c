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

// Whether the server only asks for patience, so that the same may be asked again later without a word to the person.
export const isBusy = (error) => error.status === 429 || error.status === 503;

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

// The games in which this browser plays a seat.
export const myGames = () => Object.keys(localStorage).filter((key) => /^kdenv [0-9a-f-]{36}$/.test(key) && seatsOf(key.slice(6)).length).map((key) => key.slice(6));

export const myName = () => localStorage.getItem("kdenv name") || "";
export const keepName = (name) => localStorage.setItem("kdenv name", name);
