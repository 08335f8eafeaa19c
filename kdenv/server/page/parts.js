// Makes elements. Texts are only ever set as text, so names cannot bring markup into the page.

export function el(name, about = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(about)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...inside.flat().filter((each) => each !== null && each !== undefined && each !== false));
  return made;
}

export function shape(name, about = {}, ...inside) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(about)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...inside);
  return made;
}

let hiding = 0;
export function notice(words) {
  const place = document.getElementById("notice");
  place.textContent = words;
  place.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { place.hidden = true; }, 7000);
}

// Tells something that nobody should miss: it stays until the person goes on.
export function told(inside, goOn, signal) {
  return new Promise((go) => {
    const dialog = el("dialog", { onclose: () => { dialog.remove(); go(); } }, inside,
      el("button", { type: "button", class: "main", onclick: () => dialog.close() }, goOn));
    signal.addEventListener("abort", () => { dialog.remove(); go(); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

// Does something for the person, and shows the server's sentence if it is refused.
export const tried = (work) => async (...given) => {
  try {
    return await work(...given);
  } catch (error) {
    if (error.name !== "AbortError") notice(error.message);
    return undefined;
  }
};

export const table = (heads, rows) =>
  el("div", { class: "wide" }, el("table", {},
    el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", {}, cell)))))));

// A name that somebody has chosen. Its letters may run from right to left, which must not turn the words around it.
export const called = (name) => el("bdi", {}, name);

export const names = (game) => game.seats.flatMap((seat, i) => [i ? ", " : "", seat.kind === "open" ? "(open)" : called(seat.name)]);
export const when = (time) => new Date(time).toLocaleString();
