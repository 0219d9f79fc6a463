// The view model as elements. Every word that came from outside is set as text, never as markup.

import { plain } from "./view.js";

function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

function name(part) {
  const made = element("bdi", "name", part.name);
  made.title = part.name;
  return made;
}

const text = (parts) => parts.map((part) => (typeof part === "string" ? part : name(part)));

function discs({ object, count, of }) {
  const row = element("span", "discs");
  row.setAttribute("aria-hidden", "true");
  for (let index = 0; index < of; index++) {
    row.append(element("span", `disc ${index < count ? `object-${object}` : "gone"}`));
  }
  return row;
}

function left(pieces) {
  const said = pieces.counted ? [element("b", "count", String(pieces.count)), ` ${pieces.word}`] : [pieces.word];
  const made = element("p", "left", discs(pieces), element("span", "left-words", ...said));
  made.dataset.object = pieces.object;
  return made;
}

function panel(model) {
  const id = `names-${model.key}`;
  const made = element("section", "panel");
  made.dataset.key = model.key;
  if (model.tag) made.dataset.tag = model.tag.kind;
  made.setAttribute("aria-labelledby", id);
  const names = element("h2", "names", ...model.names.map(name));
  names.id = id;
  names.style.setProperty("--letters", String(Math.max(1, ...model.names.map((part) => [...part.name].length))));
  made.dataset.names = String(model.names.length);
  const score = element("p", "score", element("span", "digits", model.score), element("span", "score-word", model.scoreWord));
  score.toggleAttribute("data-empty", model.score === "–");
  score.dataset.digits = String(Math.min(model.score.length, 4));
  made.append(
    element("p", "tag", ...(model.tag ? text(model.tag.parts) : [])),
    names,
    score,
    model.left ? left(model.left) : element("p", "left"),
    element("p", "notes", ...model.notes.map((note) => element("span", "note", note))),
  );
  return made;
}

function chip(thing) {
  const certainty = thing.provisional ? "not sure yet" : thing.assumed ? "assumed" : "";
  // The spaces between the parts are for whoever listens; the boxes have their own gaps.
  const made = element("span", "chip", element("span", `disc object-${thing.object}`), " ", element("span", "", thing.word));
  if (thing.place) made.append(" ", element("span", "place", thing.place));
  if (certainty) {
    made.classList.add("unsure");
    made.append(" ", element("span", "certainty", certainty));
  }
  return made;
}

// What may be answered, each as a button; `ask` sends a request.
function answers(model, ask) {
  const row = element("span", "answers");
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", plain(model.parts));
  for (const { part, value } of model.answers) {
    const button = element("button", "answer", ...text([part]));
    button.type = "button";
    button.dataset.key = JSON.stringify([model.question, value]);
    button.addEventListener("click", () => ask({ command: "answer", question: model.question, value }));
    row.append(button);
  }
  return row;
}

function line(model, ask) {
  const made = element("p", "line", element("span", "words", ...text(model.parts)));
  made.dataset.kind = model.kind;
  const asks = ask !== null && model.answers?.length;
  if (asks) made.append(" ", answers(model, ask));
  const detail = [asks ? [] : (model.detail ?? []), model.assumed ?? []].filter((parts) => parts.length);
  if (detail.length) made.append(" ", element("span", "detail", ...text(detail.flatMap((parts, index) => (index ? [" · ", ...parts] : parts)))));
  if (model.chips?.length) made.append(" ", element("span", "chips", ...model.chips.flatMap((thing) => [" ", chip(thing)])));
  return made;
}

const byId = (id) => document.getElementById(id);

function say(id, said) {
  if (byId(id).textContent !== said) byId(id).textContent = said;
}

// Where somebody was with the keyboard, they are still when the lines have been drawn anew.
function redrawn(where, ...children) {
  const key = document.activeElement?.dataset.key;
  where.replaceChildren(...children);
  if (key) where.querySelector(`button[data-key=${CSS.escape(key)}]`)?.focus();
}

// `ask` sends a request; null where this page may only look.
export function drawBoard(model, ask) {
  document.title = model.title;
  document.body.dataset.game = model.game;
  say("heading", model.heading);
  const board = byId("board");
  board.dataset.panels = String(model.panels.length);
  board.replaceChildren(...model.panels.map(panel));
  board.toggleAttribute("data-pool", model.pool.length > 0);
  if (model.pool.length) board.append(element("section", "pool", ...model.pool.map(left)));
  redrawn(byId("lines"), ...model.lines.map((one) => line(one, ask)));
  say("spoken", model.spoken);
}

// The buttons that are there whatever the table says; the overlay has none.
export function drawControls(ask) {
  for (const button of document.querySelectorAll("#controls button")) {
    button.addEventListener("click", () => ask({ command: button.value }));
  }
  byId("controls")?.removeAttribute("hidden");
}

export function drawStatus(live, said) {
  document.body.dataset.live = String(live);
  say("status", said);
}

export function drawNews(parts) {
  byId("news").replaceChildren(...text(parts));
}

// A page that cannot show a board says why in one sentence, with the tables there are to choose from.
export function drawChoice(sentence, tables) {
  const links = tables.map((table) => {
    const link = element("a", "", table);
    link.href = `?table=${encodeURIComponent(table)}`;
    return element("li", "", link);
  });
  byId("board").replaceChildren(element("p", "choice", sentence), element("ul", "tables", ...links));
  byId("lines").replaceChildren();
}
