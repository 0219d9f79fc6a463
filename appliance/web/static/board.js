// The board page: which table, the connection, and when to draw. What is drawn stands in view.js, how in draw.js.

import { drawBoard, drawChoice, drawNews, drawStatus } from "./draw.js";
import { Feed } from "./feed.js";
import { freshness, healthUntil, sinceWords } from "./freshness.js";
import { news, view } from "./view.js";

const TICK_MS = 500;
const NEWS_MS = 8000;
const REMEMBERED_EVENTS = 200;
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
let newsEnds = null;
let feed = null;

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
  if (now !== drawn) drawBoard(model);
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
  if (!said) return;
  drawNews(said);
  clearTimeout(newsEnds);
  newsEnds = setTimeout(() => drawNews([]), NEWS_MS);
}

function take(kind, payload, retained) {
  try {
    if (kind === "availability") known.availability = payload;
    else if (kind === "state") takeState(payload);
    else if (kind === "event" && !retained) takeEvent(payload);
    else if (kind === "health") takeHealth(payload, retained);
    else if (kind === "info") known.info = JSON.parse(payload);
    draw();
  } catch (error) {
    console.warn(`A ${kind} message cannot be shown: ${error.message}`);
  }
  judge();
}

function watch(base, table) {
  const root = `${base}/${table}/`;
  const url = new URL("mqtt", location.href);
  url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  url.search = url.hash = "";
  // `state` after what says whether to believe it: a broker sends what it keeps in this order.
  const topics = ["availability", "health", "info", "state", "event"].map((kind) => root + kind);
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

const { base, tables } = await whichTable();
const asked = new URLSearchParams(location.search).get("table");
const table = asked ?? (tables.length === 1 ? tables[0] : null);
if (tables.includes(table)) watch(base, table);
else {
  drawStatus(false, "");
  drawChoice(asked === null ? "Which table?" : `There is no table “${asked}” here.`, tables);
}
