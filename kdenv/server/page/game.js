// A table: it is played, watched and looked back at here.

import { ask, forgetSeat, get, keepName, keepSeat, myName, post, seatsOf } from "./api.js";
import { Board } from "./board.js";
import { curveOf } from "./curve.js";
import { called, el, notice, table, tried, when } from "./parts.js";
import { Values } from "./values.js";

const WAIT = 20; // seconds that a question waits for the game to go on
const SPOKEN = 8; // events that a screen reader is told at once, at most

export async function showGame(main, signal, id, linked) {
  if (!/^[0-9a-f-]{36}$/.test(id)) { showNothing(main, "This is no address of a game."); return; }
  const place = el("div", { class: "board" });
  const side = { status: el("p", { class: "status", role: "status" }), seats: el("ul", { class: "seats" }), clock: el("p", { class: "muted" }) };
  const actions = el("div", { class: "actions", role: "group", "aria-label": "what you may do" });
  const events = el("ol", { class: "events", tabindex: 0, "aria-label": "what has happened" });
  const words = el("pre", { class: "wide" });
  const inWords = el("details", { class: "panel", hidden: true }, el("summary", {}, "The position in words"), words);
  const news = el("p", { class: "spoken", "aria-live": "polite" }); // what a screen reader says of it
  const analysis = el("div", { "aria-live": "polite" });
  const title = el("h1", {}, "...");
  const join = el("div", {});
  const curve = el("div", {});
  const search = el("input", { list: "searches", value: "mce(seconds=1)", maxlength: 300, "aria-label": "the search that is asked" });
  const searches = el("datalist", { id: "searches" });
  const asked = el("label", { class: "row asked" }, el("span", { class: "muted" }, "search"), search, searches);
  const links = el("div", { class: "row" });
  const button = (words, work, about = {}) => el("button", { type: "button", onclick: tried(work), ...about }, words);
  const slider = el("input", { type: "range", min: 0, value: 0, "aria-label": "step", oninput: () => goTo(Number(slider.value)) });
  const at = el("span", { class: "muted" });
  const back = el("div", { class: "row", role: "group", "aria-label": "looking back" },
    button("|◀", () => goTo(0), { "aria-label": "first step" }), button("◀", () => goTo(shown - 1), { "aria-label": "one step back" }),
    slider, button("▶", () => goTo(shown + 1), { "aria-label": "one step on" }), button("▶|", () => goTo(null), { "aria-label": "now" }), at);
  const undo = button("undo (u)", doUndo);
  const hint = button("hint (h)", doHint);
  const resign = button("resign", async () => { if (confirm("Give up this seat?")) await post(`/games/${id}/resign`, {}, { token: mine.token }); });
  main.append(title, news, el("div", { class: "table" },
    el("div", {}, place, back),
    el("div", { class: "side" },
      el("section", { class: "panel" }, side.status, side.seats, side.clock, join, el("div", { class: "row" }, hint, undo, resign), asked),
      el("section", { class: "panel" }, el("h2", {}, "Your decision (l)"), actions),
      inWords,
      analysis,
      el("section", { class: "panel" }, el("h2", {}, "What has happened"), events, links)),
    el("div", {}, curve)));

  const board = new Board(place, tried(decide));
  const values = new Values(id, () => search.value.trim(), (n) => goTo(n), signal);
  const points = el("section", {});
  curve.append(points, values.element);
  const seats = seatsOf(id);
  let mine = seats[0] || null; // the seat that this browser plays now
  let state = null;
  let told = [];
  let shown = null; // the step that is looked at; null: now
  let drawn = "";
  let offered = "";
  let showing = null;
  let again = false;
  let pointsDrawn = null; // the curve of points, once the game is over
  let refocus = null; // where the focus goes when there is something to decide again
  let failed = false; // whether the last state could not be shown

  document.addEventListener("keydown", tried(onKey), { signal });
  const ticking = setInterval(tick, 1000);
  signal.addEventListener("abort", () => clearInterval(ticking));
  await follow();

  async function look(since) {
    const query = since === null ? "" : `?since=${since}&wait=${WAIT}`;
    const path = mine ? `/games/${id}/seat${query}` : `/games/${id}${query}`;
    const found = await get(path, { token: mine?.token, signal }).catch((error) => {
      if (!mine || error.status !== 403) throw error;
      notice("The seat that this browser kept is not one of this game any more; you are watching.");
      forgetSeat(id, mine.seat);
      seats.splice(seats.indexOf(mine), 1);
      mine = seats[0] || null;
      told = [];
      return look(null);
    });
    if (mine && !found.legal) return look(null); // the question was asked before a seat was taken
    const other = seats.find((each) => each.seat === found.turn); // several seats may be played in one browser
    if (other && mine && other.seat !== mine.seat) {
      mine = other;
      told = [];
      return look(null);
    }
    return found;
  }

  async function follow() {
    if (/^[0-9]{1,9}$/.test(linked)) shown = Number(linked);
    let since = null;
    while (!signal.aborted) {
      try {
        const found = await look(since);
        if (failed || since === null || differs(found)) {
          if (state === null || found.step >= state.step) state = found;
          failed = true;
          await show();
          failed = false;
        }
        if (state.status === "over") return;
        since = state.step;
        if (state.status === "waiting") await pause(1500);
      } catch (error) {
        if (error.name === "AbortError") return;
        if (error.status === 404 && state === null) { showNothing(main, "There is no such game, or no longer."); return; }
        notice(error.message);
        await pause(2000);
      }
    }
  }

  // Whether the game has gone on, or this browser plays another seat of it now.
  function differs(found) {
    return found.step !== state.step || found.status !== state.status || found.seat !== state.seat
      || found.seats.some((seat, i) => seat.kind !== state.seats[i].kind);
  }

  function pause(time) {
    return new Promise((go) => { setTimeout(go, time); signal.addEventListener("abort", go); });
  }

  function step() {
    return shown === null ? state.step : Math.max(0, Math.min(shown, state.step));
  }

  function isNow() {
    return step() === state.step;
  }

  // Shows the state as it is now. If it changes meanwhile, it is shown once more; two never draw at the same time.
  async function show() {
    again = true;
    if (showing) return showing;
    showing = (async () => {
      try {
        while (again) {
          again = false;
          await showOnce();
        }
      } finally {
        showing = null;
      }
    })();
    return showing;
  }

  async function showOnce() {
    const seat = state.turn === null ? null : state.seats[state.turn];
    title.replaceChildren(...(state.called ? [called(state.called), ` — ${state.title}`] : [state.title]));
    document.title = `${title.textContent} · kdenv`;
    const myTurn = mine && state.turn === mine.seat && state.legal?.length;
    const status = state.status === "waiting" ? ["waiting for players"] : state.status === "over" ? verdict()
      : myTurn ? ["your turn"] : [called(seat.name), " decides"];
    if (side.status.textContent !== el("p", {}, status).textContent) side.status.replaceChildren(...status); // it is spoken when it changes
    side.seats.replaceChildren(...state.seats.map((each) => el("li", { class: each.seat === state.turn ? "turn" : "" },
      el("span", {}, each.kind === "open" ? "(open)" : called(each.name), mine?.seat === each.seat ? " (you)" : "", each.left ? ` (${each.left})` : ""),
      el("strong", {}, String(state.scores[each.seat])))));
    offerJoin();
    inWords.hidden = !(isNow() && state.view);
    words.textContent = state.view || "";
    undo.hidden = !(mine && state.casual && state.status === "running");
    hint.hidden = !(state.status === "over" || state.analysis || (mine && state.casual));
    asked.hidden = hint.hidden;
    resign.hidden = !(mine && state.status === "running");
    await tell();
    await draw();
    if (!hint.hidden) await offerValues();
    if (state.status === "over" && !points.childElementCount) await showEnd();
    values.at(step());
    pointsDrawn?.at(step());
  }

  function verdict() {
    const best = state.seats.filter((each) => state.result.ranks[each.seat] === 1).map((each) => each.name);
    return ["over: ", ...best.flatMap((name, i) => [i ? " and " : "", called(name)]), best.length > 1 ? " win" : " wins"];
  }

  function tick() {
    if (!state || state.status !== "running") { side.clock.textContent = ""; return; }
    const since = Math.max(0, Math.round((Date.now() - Date.parse(state.updated)) / 1000));
    const left = state.deadline ? Math.round((Date.parse(state.deadline) - Date.now()) / 1000) : null;
    side.clock.textContent = `has thought for ${since} s${left !== null && left < 3600 ? `, ${Math.max(0, left)} s left` : ""}`;
  }

  async function tell() {
    const before = told.length;
    for (let left = true; left;) {
      const found = await get(`/games/${id}/events?since=${told.length}`, { token: mine?.token, signal });
      told.push(...found.events);
      left = found.events.length > 0 && told.length < state.step;
    }
    if (before === told.length && events.childElementCount) return;
    const line = (event) => el("li", {}, event.seat === null ? "" : [called(state.seats[event.seat].name), ": "], event.words);
    events.replaceChildren(...told.filter((event) => event.words !== null).slice(-60).reverse().map(line));
    const fresh = before ? told.slice(before).filter((event) => event.words !== null && event.seat !== mine?.seat) : [];
    if (fresh.length) news.textContent = fresh.slice(-SPOKEN).map((event) => line(event).textContent).join(". ");
  }

  // Whatever changes while it waits is shown anew by show(), so it may stop then.
  async function draw() {
    const seen = state;
    const now = step();
    const isStale = () => seen !== state || now !== step();
    slider.max = state.step;
    slider.value = now;
    at.textContent = `${now} of ${state.step}`;
    const key = `${now} ${mine?.seat} ${state.status === "over"}`;
    if (key !== drawn) {
      const token = state.status === "over" ? undefined : mine?.token;
      const svg = await get(`/games/${id}/steps/${now}/picture.svg`, { token, signal });
      if (isStale()) return;
      const last = told.slice(0, now).filter((event) => event.kind === "action").at(-1);
      board.draw(svg, `${state.title}, step ${now}${last ? `; last: ${last.words}` : ""}`);
      drawn = key;
    }
    const legal = isNow() && mine && state.turn === mine.seat ? state.legal || [] : [];
    const offering = `${key} ${isNow()} ${legal.length}`;
    if (offering !== offered) { // else what is focused, or half chosen, would be lost
      const { shapes } = legal.length ? await get(`/games/${id}/steps/${now}/shapes`, { token: mine.token, signal }) : { shapes: [] };
      if (isStale()) return;
      actions.replaceChildren(...legal.map((each) => el("button", { type: "button", onclick: tried(() => decide(each.action)) }, each.words)));
      if (!legal.length) actions.append(el("span", { class: "muted" }, isNow() ? "nothing now" : "you are looking back"));
      board.offer(shapes);
      offered = offering;
      if (legal.length && refocus) {
        if (refocus === "board" && shapes.some((each) => each.paths.length)) board.focus();
        else actions.querySelector("button").focus();
        refocus = null;
      }
    }
    links.replaceChildren(
      el("a", { href: `#/games/${id}/${now}` }, `link to step ${now}`),
      el("a", { href: svgAddress(), download: `${id}-${now}.svg` }, "SVG"),
      ...(state.status === "over" || !state.hides ? [el("a", { href: `/api/v1/games/${id}/record`, download: `${id}.txt` }, "record")] : []),
      ...(state.status === "over" ? [el("a", { href: `/api/v1/games/${id}/film.gif`, download: `${id}.gif` }, "GIF")] : []));
  }

  function svgAddress() {
    const drawing = place.querySelector("svg")?.cloneNode(true);
    drawing?.querySelectorAll(".target, .hint").forEach((each) => each.remove());
    return drawing ? URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(drawing)], { type: "image/svg+xml" })) : "#";
  }

  async function goTo(wanted) {
    if (!state) return;
    shown = wanted === null || wanted >= state.step ? null : Math.max(0, wanted);
    analysis.replaceChildren();
    await tried(show)();
    history.replaceState(null, "", shown === null ? `#/games/${id}` : `#/games/${id}/${shown}`);
  }

  async function decide(action) {
    const focused = document.activeElement;
    refocus = place.contains(focused) ? "board" : actions.contains(focused) ? "actions" : null;
    analysis.replaceChildren();
    board.offer([]); // so that nothing is decided twice
    offered = "";
    actions.replaceChildren(el("span", { class: "muted" }, "..."));
    try {
      state = { ...(await post(`/games/${id}/act`, { step: state.step, action }, { token: mine.token })) };
    } finally {
      await show();
    }
  }

  async function doUndo() {
    if (undo.hidden) return;
    await post(`/games/${id}/undo`, { step: state.step }, { token: mine.token });
  }

  async function doHint() {
    if (hint.hidden) return;
    analysis.replaceChildren(el("p", { class: "panel muted" }, "a search looks at the position ..."));
    try {
      const token = state.status === "over" ? undefined : mine?.token;
      const found = await ask("POST", `/games/${id}/steps/${step()}/analysis`, { body: { policy: search.value.trim() }, token, signal });
      board.hint(found.candidates, found.shapes);
      analysis.replaceChildren(el("section", { class: "panel" }, el("h2", {}, `What a search thinks (${found.unit})`),
        table(["turn", "visits", "value"], found.candidates.slice(0, 8).map((each) =>
          [each.words, `${Math.round(each.share * 100)} %`, each.value === null ? "" : each.value.toFixed(3)]))));
    } catch (error) {
      analysis.replaceChildren();
      throw error;
    }
  }

  function offerJoin() {
    const open = state.seats.some((each) => each.kind === "open");
    if (!open || mine) { join.replaceChildren(...(open ? [el("p", { class: "muted" }, "send the address of this page to whoever shall join")] : [])); return; }
    if (join.querySelector("input")) return;
    const name = el("input", { value: myName(), maxlength: 40, "aria-label": "your name", placeholder: "your name" });
    join.replaceChildren(el("form", { class: "row", onsubmit: tried(async (event) => {
      event.preventDefault();
      keepName(name.value.trim());
      const joined = await post(`/games/${id}/join`, { name: name.value.trim() });
      keepSeat(id, joined.seat, joined.token);
      mine = { seat: joined.seat, token: joined.token };
      seats.push(mine);
      told = [];
      drawn = "";
      state = await look(null);
      await show();
    }) }, name, el("button", { class: "main", type: "submit" }, "join")));
  }

  async function showEnd() {
    const { scores } = await get(`/games/${id}/curve`, { signal });
    const lines = state.seats.map((each) => scores.map((all, n) => [n, all[each.seat]]));
    pointsDrawn = curveOf("points", lines, scores.length - 1, state.seats.map((each) => each.name), (n) => goTo(n));
    points.replaceChildren(el("h2", {}, "Points along the game"), pointsDrawn.element,
      el("p", { class: "muted" }, `${when(state.created)} to ${when(state.updated)}`));
  }

  // Offers to search the positions that this viewer may have searched: while a game that hides something goes on, those of its own seat.
  async function offerValues() {
    const mayAsk = (seat) => state.status === "over" || !state.hides || (mine && seat === mine.seat);
    const decisions = told.flatMap((each, n) => (each.kind === "action" && mayAsk(each.seat) ? [{ step: n, seat: each.seat }] : []));
    values.offer(decisions, state.step, state.seats.map((each) => each.name), state.status === "over" ? undefined : mine?.token);
    if (!searches.childElementCount) {
      const { policies, recommended } = await get(`/policies?game=${state.game}`, { signal });
      searches.append(...[...recommended, ...policies].filter((each) => each.analyses)
        .map((each) => el("option", { value: each.policy }, each.strength || each.meaning)));
    }
  }

  async function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const keys = {
      ArrowLeft: () => goTo(step() - 1), ArrowRight: () => goTo(step() + 1), Home: () => goTo(0), End: () => goTo(null),
      Escape: () => board.back(), h: doHint, u: doUndo, l: () => actions.querySelector("button")?.focus(),
    };
    if (keys[event.key] && state) { event.preventDefault(); await keys[event.key](); }
  }
}

function showNothing(main, words) {
  main.replaceChildren(el("h1", {}, "No game"), el("p", {}, words, " ", el("a", { href: "#/" }, "All tables")));
}
