// A table: it is played, watched and looked back at here.

import { ask, forgetSeat, get, isBusy, keepName, keepSeat, myName, post, seatsOf } from "./api.js";
import { Board, isNarrow, look as lookOf, onLook } from "./board.js";
import { curveOf } from "./curve.js";
import { called, el, notice, table, told, tried, when } from "./parts.js";
import { call, likes, switches } from "./settings.js";
import { badge, colourBadges, Log } from "./told.js";
import { Values } from "./values.js";

const WAIT = 20; // seconds that a question waits for the game to go on
const SOON = 500; // milliseconds before a forced move is made

export async function showGame(main, signal, id, linked) {
  if (!/^[0-9a-f-]{36}$/.test(id)) { showNothing(main, "This is no address of a game."); return; }
  const place = el("div", { class: "board" });
  const side = { status: el("p", { class: "status", role: "status" }), seats: el("ul", { class: "seats" }), clock: el("p", { class: "muted clock" }) };
  const actions = el("div", { class: "actions", role: "group", "aria-label": "what you may do" });
  const decision = el("details", { class: "panel", open: !isNarrow() }, el("summary", {}, "Your decision in words (l)"), actions);
  const words = el("pre", { class: "wide", tabindex: 0, role: "region", "aria-label": "the position in letters" });
  const inWords = el("details", { class: "panel", hidden: true }, el("summary", {}, "The position in letters"), words);
  const log = new Log(id, (n) => goTo(n));
  const analysis = el("div", { class: "analysis", "aria-live": "polite" });
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
  const back = el("div", { class: "row back", role: "group", "aria-label": "looking back" },
    button("|◀", () => goTo(0), { "aria-label": "first step" }), button("◀", () => goTo(step() - 1), { "aria-label": "one step back" }),
    slider, button("▶", () => goTo(step() + 1), { "aria-label": "one step on" }), button("▶|", () => goTo(null), { "aria-label": "now" }), at);
  const undo = button("undo", doUndo, { title: "key u" });
  const hint = button("hint", doHint, { title: "key h" });
  const resign = button("resign", async () => { if (confirm("Give up this seat?")) await post(`/games/${id}/resign`, {}, { token: mine.token }); });
  const leave = button("leave the table", doLeave);
  const rematch = button("play again", doRematch, { class: "main" });
  const film = el("a", { href: `/api/v1/games/${id}/film.gif`, download: `${id}.gif`, onclick: tried(getFilm) }, "GIF");
  const loading = el("p", { class: "muted" }, "the table is being set ...");
  const whole = el("div", { class: "table", hidden: true },
    el("div", { class: "desk" }, el("div", { class: "bar" }, side.status, side.clock, hint, undo, rematch), place, analysis, back),
    el("div", { class: "side" },
      el("section", { class: "panel" }, side.seats, join, el("div", { class: "row" }, resign, leave)),
      el("section", { class: "panel" }, el("h2", {}, "What has happened"), log.list, links),
      decision,
      inWords,
      el("details", { class: "panel" }, el("summary", {}, "Settings"), ...switches())),
    el("div", {}, asked, curve));
  main.append(title, log.spoken, loading, whole); // all is shown at once, so that nothing moves while the rest comes

  const board = new Board(place, tried(decide));
  const values = new Values(id, () => search.value.trim(), (n) => goTo(n), signal);
  const pointsPlace = el("section", {});
  curve.append(pointsPlace, values.element);
  const seats = seatsOf(id);
  let mine = seats[0] || null; // the seat that this browser plays now
  let state = null;
  let shown = null; // the step that is looked at; null: now
  let drawn = "";
  let offered = "";
  let offeredAt = null; // the step whose decisions are offered
  let sent = null; // the step whose decision is being sent; it is not offered again
  let showing = null;
  let again = false;
  let pointsDrawn = null; // the curve of points, once the game is over
  let about = {}; // the rules of the game: its colours
  let refocus = null; // where the focus goes when there is something to decide again
  let failed = false; // whether the last state is not shown yet, or could not be shown
  let calledAt = null; // what the person was last shown: the step, the status and the seat
  let handed = null; // the seat whose player looks at this screen
  let isForced = true; // whether forced moves may be made; not after an undo, which would be undone

  inWords.addEventListener("toggle", tried(showWords));
  document.addEventListener("keydown", tried(onKey), { signal });
  onLook(tried(async () => { drawn = offered = ""; if (state) await show(); if (analysis.childElementCount) await doHint(); }), signal);
  const ticking = setInterval(tick, 1000);
  signal.addEventListener("abort", () => { clearInterval(ticking); document.querySelectorAll("dialog").forEach((each) => each.remove()); });
  await follow();

  async function look(since) {
    const query = since === null ? "" : `since=${since}&wait=${WAIT}`;
    const path = mine ? `/games/${id}/seat?told=true&${query}` : `/games/${id}?${query}`;
    const found = await get(path, { token: mine?.token, signal }).catch((error) => {
      if (!mine || error.status !== 403) throw error;
      notice("The seat that this browser kept is not one of this game any more; you are watching.");
      forgetSeat(id, mine.seat);
      seats.splice(seats.indexOf(mine), 1);
      mine = seats[0] || null;
      log.forget();
      return look(null);
    });
    if (mine && !found.legal) return look(null); // the question was asked before a seat was taken
    const other = seats.find((each) => each.seat === found.turn); // several seats may be played in one browser
    if (other && mine && other.seat !== mine.seat) {
      mine = other;
      log.forget();
      return look(null);
    }
    return found;
  }

  async function follow() {
    if (/^[0-9]{1,9}$/.test(linked)) shown = Number(linked);
    let since = null;
    let patience = 1000;
    const { games } = await get("/rules", { signal });
    while (!signal.aborted) {
      try {
        const found = await look(since);
        if (failed || since === null || differs(found)) {
          if (state === null || found.step >= state.step) state = found;
          about = games.find((each) => each.game === state.game) || { colours: [] };
          await show();
        }
        if (state.status === "over") return;
        since = state.step;
        if (state.status === "waiting") await pause(1500);
        patience = 1000;
      } catch (error) {
        if (error.name === "AbortError") return;
        if (error.status === 404 && (state === null || state.status === "waiting")) { showNothing(main, "There is no such game, or no longer."); return; }
        if (!isBusy(error)) notice(error.message);
        await pause(patience);
        patience = Math.min(30000, 2 * patience);
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
          failed = true; // else follow() would not show it once more
          await showOnce();
          failed = false;
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
    const myTurn = isMyTurn();
    document.title = `${myTurn ? "your turn · " : ""}${title.textContent} · kdenv`;
    const status = state.status === "waiting" ? ["waiting for players"] : state.status === "over" ? verdict()
      : myTurn ? ["your turn", seats.length > 1 ? [": ", called(seat.name)] : []].flat() : [called(seat.name), " decides"];
    if (side.status.textContent !== el("p", {}, status).textContent) side.status.replaceChildren(...status); // it is spoken when it changes
    side.status.classList.toggle("mine", Boolean(myTurn));
    side.seats.replaceChildren(...state.seats.map((each) => el("li", { class: each.seat === state.turn ? "turn" : "" },
      badge(each.seat),
      el("span", { class: "who" }, each.kind === "open" ? "(open)" : called(each.name), mine?.seat === each.seat ? " (you)" : "",
        each.kind === "program" ? el("span", { class: "muted" }, " program") : "", each.left ? ` (${each.left})` : ""),
      el("strong", {}, String(state.scores[each.seat])))));
    offerJoin();
    undo.hidden = !(mine && state.casual && state.status === "running");
    hint.hidden = !(state.status === "over" || state.analysis || (mine && state.casual));
    rematch.hidden = !(mine && state.status === "over");
    resign.hidden = !(mine && state.status === "running");
    leave.hidden = !(mine && state.status === "waiting");
    decision.hidden = !(mine && state.status === "running");
    asked.hidden = hint.hidden;
    colourBadges(side.seats, about.colours);
    await handOver();
    inWords.hidden = !(isNow() && mine && state.status !== "waiting");
    await showWords();
    await tell();
    await draw();
    if (whole.hidden) { loading.remove(); whole.hidden = false; drawn = offered = ""; await draw(); } // names are fitted to what is shown
    if (!hint.hidden) await offerValues();
    if (state.status === "over" && !pointsPlace.childElementCount) await showEnd();
    values.at(step());
    pointsDrawn?.at(step());
    callPerson();
  }

  function isMyTurn() {
    return Boolean(mine && state.turn === mine.seat && state.legal?.length);
  }

  function names() {
    return state.seats.map((each) => (each.kind === "open" ? "" : each.name));
  }

  // Tells the person that it is its turn, and makes a forced move.
  function callPerson() {
    const [before, now] = [calledAt, `${state.step} ${state.status} ${mine?.seat}`];
    calledAt = now;
    if (!isMyTurn() || before === now) return;
    const last = log.events.filter((event) => event.kind === "action").at(-1);
    if (state.legal.length === 1 && likes().forced && isForced && isNow()) {
      const { step: made, legal: [{ action }] } = state;
      setTimeout(tried(() => (state.step === made && isMyTurn() && isNow() && !signal.aborted ? decide(action) : null)), SOON);
    } else if (before && last?.seat !== mine.seat) call(title.textContent);
  }

  // Where hands are hidden and several people play at this browser, nobody sees the hand of the one before.
  async function handOver() {
    if (seats.length < 2 || !state.hides || state.status !== "running" || handed === mine.seat) return;
    board.draw(EMPTY, "", []);
    actions.replaceChildren();
    drawn = offered = "";
    const { name } = state.seats[mine.seat];
    await told([el("h2", {}, called(name)), el("p", {}, "It is your turn. The other players look away now.")], "show my hand", signal);
    handed = mine.seat;
  }

  function verdict() {
    const best = state.seats.filter((each) => state.result.ranks[each.seat] === 1).map((each) => each.name);
    return ["over: ", ...best.flatMap((name, i) => [i ? " and " : "", called(name)]), best.length > 1 ? " win" : " wins"];
  }

  function tick() {
    if (!state || state.status !== "running") { side.clock.textContent = ""; return; }
    const since = Math.max(0, Math.round((Date.now() - Date.parse(state.updated)) / 1000));
    const left = state.deadline ? Math.round((Date.parse(state.deadline) - Date.now()) / 1000) : null;
    side.clock.textContent = left !== null && left < 3600 ? `${clock(since)}, ${clock(Math.max(0, left))} left` : clock(since);
  }

  async function tell() {
    const before = log.length;
    log.add(state.events || []);
    for (let left = log.length < state.step; left;) {
      const found = await get(`/games/${id}/events?told=true&since=${log.length}`, { token: mine?.token, signal });
      log.add(found.events);
      left = found.events.length > 0 && log.length < state.step;
    }
    log.show(before, names(), seats.map((each) => each.seat));
    log.mark(step(), isNow());
    colourBadges(log.list, about.colours);
    if (!before || !isNow()) return;
    for (const { step: ended, words } of log.summaries(before)) {
      const token = state.status === "over" ? undefined : mine?.token;
      const svg = await get(`/games/${id}/steps/${ended}/picture.svg${lookOf("?")}`, { token, signal });
      board.draw(svg, words, names());
      drawn = offered = "";
      await told([el("h2", {}, "The round is over"), el("p", {}, words)], "go on", signal);
    }
  }

  // Whatever changes while it waits is shown anew by show(), so it may stop then.
  async function draw() {
    const seen = state;
    const now = step();
    const isStale = () => seen !== state || now !== step();
    slider.max = state.step;
    slider.value = now;
    at.textContent = `${now} of ${state.step}`;
    const key = `${now} ${mine?.seat} ${state.status === "over"} ${lookOf("")}`;
    if (key !== drawn) {
      const token = state.status === "over" ? undefined : mine?.token;
      const svg = (state.step === now && state.picture) || await get(`/games/${id}/steps/${now}/picture.svg${lookOf("?")}`, { token, signal });
      if (isStale()) return;
      const last = log.events.slice(0, now).filter((event) => event.kind === "action").at(-1);
      board.draw(svg, `${state.title}, step ${now}${last ? `; last: ${last.told.map((line) => line.words).join("; ")}` : ""}`, names());
      drawn = key;
    }
    const legal = isNow() && mine && state.turn === mine.seat ? state.legal || [] : [];
    const offering = `${key} ${isNow()} ${legal.length}`;
    if (offering !== offered && sent !== now) { // else what is focused, or half chosen, would be lost
      const { shapes } = legal.length && state.shapes && state.step === now ? state : legal.length ? await get(`/games/${id}/steps/${now}/shapes${lookOf("?")}`, { token: mine.token, signal }) : { shapes: [] };
      if (isStale() || sent === now) return;
      actions.replaceChildren(...shapes.map((each) => el("button", { type: "button", title: each.words, onclick: tried(() => decide(each.action)) }, each.meaning)));
      if (!legal.length) actions.append(el("span", { class: "muted" }, isNow() ? "nothing now" : "you are looking back"));
      board.offer(shapes);
      if (legal.length && !shapes.some((each) => each.paths.length || each.button)) decision.open = true; // there is nothing to click
      [offered, offeredAt] = [offering, now];
      if (legal.length && refocus) {
        if (refocus === "board" && shapes.some((each) => each.paths.length || each.button)) board.focus();
        else actions.querySelector("button").focus();
        refocus = null;
      }
    }
    links.replaceChildren(
      el("a", { href: `#/rules/${state.game}` }, "rules"),
      el("a", { href: `#/games/${id}/${now}` }, `link to step ${now}`),
      el("a", { href: svgAddress(), download: `${id}-${now}.svg` }, "SVG"),
      ...(state.status === "over" || !state.hides ? [el("a", { href: `/api/v1/games/${id}/record`, download: `${id}.txt` }, "record")] : []),
      ...(state.status === "over" ? [film] : []));
  }

  function svgAddress() {
    const drawing = place.querySelector("svg")?.cloneNode(true);
    drawing?.querySelectorAll(".target, .hint, .ghost").forEach((each) => each.remove());
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
    isForced = true;
    const decided = sent = offeredAt; // so that nothing is decided twice
    board.offer([]);
    offered = "";
    actions.replaceChildren(el("span", { class: "muted" }, "..."));
    try {
      const found = await post(`/games/${id}/act?drawing=true${lookOf("&")}`, { step: decided, action }, { token: mine.token });
      if (found.seat === mine.seat && found.step >= state.step) state = found; // else follow() has shown what came later
    } finally {
      if (sent === decided) sent = null;
      await show();
    }
  }

  // The position in letters, which the server draws only if it is looked at.
  async function showWords() {
    if (inWords.hidden || !inWords.open) return;
    if (state.view === undefined) state.view = (await get(`/games/${id}/seat?view=true`, { token: mine.token, signal })).view;
    words.textContent = state.view;
  }

  async function doLeave() {
    await post(`/games/${id}/leave`, {}, { token: mine.token });
    forgetSeat(id, mine.seat);
    location.hash = "#/";
  }

  // Sets the same table up again. The others find it in the lobby, or by the link.
  async function doRematch() {
    const made = await post("/games", { game: state.game, options: state.options, called: state.called, players: state.players, casual: state.casual,
      public: state.public, analysis: state.analysis, turn_seconds: state.turn_seconds, seats: state.seats.map((each) => each.policy || "open") });
    for (const { seat } of seats) {
      const joined = await post(`/games/${made.id}/join`, { name: state.seats[seat].name, seat });
      keepSeat(made.id, joined.seat, joined.token);
    }
    location.hash = `#/games/${made.id}`;
  }

  // A film is made for those who played, so the request has the token of a seat.
  async function getFilm(event) {
    event.preventDefault();
    notice("the film is being made, which takes up to a minute");
    const answer = await fetch(`/api/v1/games/${id}/film.gif`, { headers: mine ? { Authorization: `Bearer ${mine.token}` } : {}, signal });
    if (!answer.ok) throw new Error((await answer.json()).error);
    el("a", { href: URL.createObjectURL(await answer.blob()), download: `${id}.gif` }).click();
  }

  async function doUndo() {
    if (undo.hidden) return;
    isForced = false;
    await post(`/games/${id}/undo`, { step: state.step }, { token: mine.token });
  }

  async function doHint() {
    if (hint.hidden) return;
    analysis.replaceChildren(el("p", { class: "panel muted" }, "a search looks at the position ..."));
    try {
      const token = state.status === "over" ? undefined : mine?.token;
      const found = await ask("POST", `/games/${id}/steps/${step()}/analysis${lookOf("?")}`, { body: { policy: search.value.trim() }, token, signal });
      board.hint(found.paths);
      const [best, ...others] = found.candidates;
      const share = (each) => `${Math.round(each.share * 100)} %`;
      const turn = (each, tag = "span") => el(tag, { title: `${each.words}${each.line && `; the search expects: ${each.line}`}` }, each.meaning);
      analysis.replaceChildren(el("section", { class: "panel" }, el("p", {}, "best: ", turn(best, "strong")),
        others.length ? el("ol", { class: "muted", start: 2 }, others.slice(0, 3).map((each) => turn(each, "li"))) : null,
        el("details", {}, el("summary", {}, `what the search thinks (${found.unit})`), table(["turn", "visits", "value"], found.candidates.slice(0, 8).map((each) =>
          [turn(each), share(each), each.value === null ? "" : each.value.toFixed(3)])))));
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
      log.forget();
      drawn = "";
      state = await look(null);
      await show();
      whole.scrollIntoView(); // on a telephone, the form is below the board
    }) }, name, el("button", { class: "main", type: "submit" }, "join")));
  }

  async function showEnd() {
    const { scores } = await get(`/games/${id}/curve`, { signal });
    const lines = state.seats.map((each) => scores.map((all, n) => [n, all[each.seat]]));
    pointsDrawn = curveOf("points", lines, scores.length - 1, state.seats.map((each) => each.name), (n) => goTo(n), about.colours);
    pointsPlace.replaceChildren(el("h2", {}, "Points along the game"), pointsDrawn.element,
      el("p", { class: "muted" }, `${when(state.created)} to ${when(state.updated)}`));
  }

  // Offers to search the positions that this viewer may have searched: while a game that hides something goes on, those of its own seat.
  async function offerValues() {
    const mayAsk = (seat) => state.status === "over" || !state.hides || (mine && seat === mine.seat);
    const decisions = log.events.flatMap((each, n) => (each.kind === "action" && mayAsk(each.seat) ? [{ step: n, seat: each.seat }] : []));
    values.offer(decisions, state.step, state.seats.map((each) => each.name), state.status === "over" ? undefined : mine?.token, about.colours);
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
      Escape: () => board.back(), h: doHint, u: doUndo, l: () => { decision.open = true; actions.querySelector("button")?.focus(); },
    };
    if (keys[event.key] && state) { event.preventDefault(); await keys[event.key](); }
  }
}

const clock = (seconds) => (seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`);
const EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 3"/>';

function showNothing(main, words) {
  main.replaceChildren(el("h1", {}, "No game"), el("p", {}, words, " ", el("a", { href: "#/" }, "All tables")));
}
