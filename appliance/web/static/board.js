// The board page: which table, the connection, and when to draw. What is drawn stands in view.js, how in draw.js.

import { drawBoard, drawChoice, drawControls, drawNews, drawStatus } from "./draw.js";
import { Feed } from "./feed.js";
import { freshness, healthUntil, sinceWords } from "./freshness.js";
import { news, view } from "./view.js";

const TICK_MS = 500;
const NEWS_MS = 8000;
const REMEMBERED_EVENTS = 200;
const ANSWER_MS = 5000;
const QUIET_MS = 2000; // longer than from one answered ping to the next

// Everything the page knows; `liveMs` is when it last was live.
const known = {
  connected: false,
  reason: "connecting",
  availability: null,
  state: null,
  info: null,
  health: null,
  healthUntilMs: null,
  liveMs: null,
};
const seen = new Set();
const unanswered = new Map(); // what this page has asked, by transaction: when to give up
let newsEnds = null;
let feed = null;
let ask = null; // sends a request; stays null where this page may only look

function judge() {
  const now = Date.now();
  // A hidden page's timers are held back, so its silence says nothing about the connection.
  const heardMs = document.hidden ? now : feed.heardMs;
  const { live, reason } = freshness({ ...known, hasState: known.state !== null, heardMs }, now);
  if (live) known.liveMs = now;
  if (live) drawStatus(true, "live");
  else if (known.state === null) drawStatus(false, `Waiting for the table: ${reason}`);
  else drawStatus(false, `${sinceWords(known.liveMs ?? (Date.parse(known.state.at) || now), now)} · ${reason}`);
}

function takeState(payload) {
  const state = JSON.parse(payload);
  if (!state?.rules) return;
  known.state = state;
}

// A message that is published again changes nothing, so nothing is drawn again.
let drawn = "";

function draw() {
  if (known.state === null) return;
  const model = view(known.state, known);
  const now = JSON.stringify(model);
  if (now !== drawn) drawBoard(model, ask);
  drawn = now;
}

function takeHealth(payload, retained) {
  known.health = JSON.parse(payload);
  known.healthUntilMs = healthUntil(known.health, retained, Date.now());
}

function takeEvent(payload) {
  const event = JSON.parse(payload);
  if (seen.has(event.event_id)) return;
  seen.add(event.event_id);
  if (seen.size > REMEMBERED_EVENTS) seen.delete(seen.values().next().value);
  const said = news(event, known.state);
  if (said) tell(said);
}

function tell(parts) {
  drawNews(parts);
  clearTimeout(newsEnds);
  newsEnds = setTimeout(() => drawNews([]), NEWS_MS);
}

// Whoever presses a button means the board that they see: what has changed meanwhile, or a second press, is refused.
function asking(topic) {
  return (request) => {
    const transaction = `page-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
    const silent = setTimeout(() => takeAnswer(transaction, ["The table did not answer"]), ANSWER_MS);
    unanswered.set(transaction, silent);
    feed.publish(topic, JSON.stringify({ transaction, expected_seq: known.state.seq, ...request }));
  };
}

function takeAnswer(transaction, refusal) {
  if (!unanswered.has(transaction)) return;
  clearTimeout(unanswered.get(transaction));
  unanswered.delete(transaction);
  if (refusal) tell(refusal);
}

function takeResponse(payload) {
  const answer = JSON.parse(payload);
  takeAnswer(answer.transaction, answer.ok ? null : ["Not done: ", answer.error?.message ?? "the table refuses it"]);
}

function take(kind, payload, retained) {
  try {
    if (kind === "availability") known.availability = payload;
    else if (kind === "state") takeState(payload);
    else if (kind === "event" && !retained) takeEvent(payload);
    else if (kind === "response" && !retained) takeResponse(payload);
    else if (kind === "health") takeHealth(payload, retained);
    else if (kind === "info") known.info = JSON.parse(payload);
    draw();
  } catch (error) {
    console.warn(`A ${kind} message cannot be shown: ${error.message}`);
  }
  judge();
}

function watch(base, table, mayAsk) {
  const root = `${base}/${table}/`;
  const url = new URL("mqtt", location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  url.search = url.hash = "";
  // `state` after what says whether to believe it: a broker sends what it keeps in this order.
  const kinds = ["availability", "health", "info", "state", "event", ...(mayAsk ? ["response"] : [])];
  const topics = kinds.map((kind) => root + kind);
  if (mayAsk) {
    ask = asking(`${root}request`);
    drawControls(ask);
  }
  feed = new Feed(url.href, topics, {
    message: (topic, payload, retained) => take(topic.slice(root.length), payload, retained),
    connected: () => {
      known.connected = true;
      judge();
    },
    lost: (reason) => {
      // What a new connection does not say again is not known any more.
      Object.assign(known, { connected: false, reason, availability: null, healthUntilMs: null });
      judge();
    },
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) feed.wake(QUIET_MS);
  });
  setInterval(judge, TICK_MS);
  feed.open();
}

async function whichTable() {
  for (;;) {
    try {
      const answer = await fetch("table.json", { cache: "no-store" });
      if (answer.ok) return await answer.json();
    } catch {
      // The appliance is away; the page waits for it.
    }
    drawStatus(false, "Waiting for the appliance: no connection");
    await new Promise((done) => setTimeout(done, 1000));
  }
}

const { base, tables, may_ask: mayAsk } = await whichTable();
const asked = new URLSearchParams(location.search).get("table");
const table = asked ?? (tables.length === 1 ? tables[0] : null);
if (tables.includes(table)) watch(base, table, mayAsk);
else {
  drawStatus(false, "");
  drawChoice(asked === null ? "Which table?" : `There is no table “${asked}” here.`, tables);
}
