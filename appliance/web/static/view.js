// From the `state` document to what the page shows. Pure: no DOM, no clock, no connection.
//
// Text is a list of parts, each a string or {name}: names are other people's words, so they stay apart from
// ours until the page sets them as text of their own. Unknown values are shown in their own words rather than
// hidden, and a missing one never takes the rest of the board with it.

const GAMES = {
  club_carrom: "Club carrom",
  new_carrom: "New carrom",
  money_carrom: "Money carrom",
  carpetball: "Carpetball",
};
const OBJECTS = { cue: "cue ball" };
const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const CARROM_SET = { white: 9, black: 9, queen: 1 };

export const plain = (parts) => parts.map((part) => (typeof part === "string" ? part : part.name)).join("");

const words = (value) => String(value).replaceAll("_", " ");
const objectWord = (object) => OBJECTS[object] ?? words(object);
const points = (count) => `${count} ${count === 1 ? "point" : "points"}`;
const inWords = (count) => NUMBERS[count] ?? String(count);
const list = (value) => (Array.isArray(value) ? value : []);

// A name on one line, without the marks that turn the writing direction of what follows.
const tidy = (name) => String(name ?? "").replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").replace(/[\u202a-\u202e\u2066-\u2069]/g, "").trim();

// "white, queen or striker", of strings or of parts
function either(items) {
  return items.flatMap((item, index) => {
    const between = index === 0 ? [] : [index === items.length - 1 ? " or " : ", "];
    return [...between, item];
  });
}

function naming(doc) {
  const known = new Map(list(doc.players).map((seat) => [seat.player, tidy(seat.name)]));
  const name = (player) => ({ name: known.get(player) || `Player ${player}` });
  const members = (side) => {
    const odd = side === "A";
    const seats = [...known.keys()].filter((player) => (player % 2 === 1) === odd);
    return (seats.length ? seats : [odd ? 1 : 2]).map(name);
  };
  const team = (side) => members(side).flatMap((member, index) => (index ? [" & ", member] : [member]));
  return { name, members, team, verb: (side, one, many) => (members(side).length > 1 ? many : one) };
}

const place = (doc, where) =>
  doc.rules?.game === "carpetball" ? `the ${words(where)} pit` : `pocket ${words(where)}`;

// ---- the panels, one a side, a player or an end

function sidePanels(doc, who) {
  const rules = doc.rules;
  return Object.entries(rules.sides ?? {}).map(([key, side]) => {
    const onTurn = rules.turn?.side === key;
    const doubles = who.members(key).length > 1;
    const doing = rules.turn?.must_cover ? "to cover" : "to play";
    const won = rules.match_winner === key || (!rules.match_winner && rules.board_result?.winner === key);
    const notes = [];
    if (side.due > 0) notes.push(`owes ${inWords(side.due)}`);
    if (rules.queen?.side === key) {
      notes.push(rules.queen.status === "covered" ? "queen covered" : "queen to cover");
    }
    const left = 9 - (side.pocketed ?? 0);
    return {
      key,
      names: who.members(key),
      score: String(side.score ?? "–"),
      scoreWord: rules.game === "new_carrom" ? "boards" : "points",
      tag: onTurn
        ? { kind: rules.turn.must_cover ? "cover" : "turn", parts: doubles ? [who.name(rules.turn.player), ` ${doing}`] : [doing] }
        : won
          ? { kind: "won", parts: [rules.match_winner === key ? "won the match" : "won the board"] }
          : null,
      left: { object: side.colour, count: left, of: 9, counted: true, word: `${objectWord(side.colour)} left` },
      notes,
    };
  });
}

function moneyPanels(doc, who) {
  const rules = doc.rules;
  const winners = list(rules.match_winners);
  return list(rules.players).map((seat) => {
    const onTurn = rules.turn?.player === seat.player;
    const missed = seat.missed_turns ?? 0;
    return {
      key: String(seat.player),
      names: [who.name(seat.player)],
      score: String(seat.score ?? "–"),
      scoreWord: "points",
      tag: onTurn
        ? { kind: "turn", parts: ["to play"] }
        : winners.includes(seat.player)
          ? { kind: "won", parts: [winners.length > 1 ? "shares the win" : "won the game"] }
          : null,
      left: null,
      notes: missed ? [missed === 1 ? "misses a turn" : `misses ${inWords(missed)} turns`] : [],
    };
  });
}

function endPanels(doc, who) {
  const rules = doc.rules;
  return Object.entries(rules.ends ?? {}).map(([key, end]) => {
    const onTurn = rules.turn?.end === key;
    const lining = end.in_play === null || end.in_play === undefined;
    const final = rules.turn?.final_throw === true;
    const first = rules.phase === "line_up" ? "throws first" : "to throw";
    return {
      key,
      names: [who.name(end.player)],
      score: lining ? "–" : String(end.in_play),
      scoreWord: lining ? "to line up" : end.in_play === 1 ? "ball in play" : "balls in play",
      tag: onTurn
        ? { kind: final ? "final" : "turn", parts: [final ? "final throw" : first] }
        : rules.round_winner === end.player
          ? { kind: "won", parts: ["won the round"] }
          : null,
      left: { object: "ball", count: end.in_play ?? 0, of: end.in_play ?? 0, counted: false, word: `${key} end` },
      notes: [],
    };
  });
}

// ---- the lines below: what matters at the table now

const abandoned = (doc) => doc.last_result?.abandoned === true && doc.last_result.match_id === doc.match_id;

function resultLine(doc, who) {
  const rules = doc.rules;
  const certain = doc.last_result?.certain === false ? [" — not certain: nobody has confirmed an assumption"] : [];
  const line = (...parts) => ({ kind: "result", parts: [...parts, ...certain] });
  const over = (what) => line(`The ${what} is over, with no winner`);
  if (abandoned(doc)) return line("The match was abandoned: it has no winner");
  if (rules.game === "money_carrom" && rules.phase === "match_over") {
    const winners = list(rules.match_winners).map(who.name);
    if (!winners.length) return over("game");
    if (winners.length === 1) return line(winners[0], " wins the game");
    return line(...winners.flatMap((winner, index) => (index ? [index === winners.length - 1 ? " and " : ", ", winner] : [winner])), " share the win");
  }
  if (rules.game === "carpetball") {
    if (rules.phase !== "round_over") return null;
    return rules.round_winner ? line(who.name(rules.round_winner), " wins the round") : over("round");
  }
  const winner = rules.match_winner;
  const scored = rules.game === "club_carrom" && rules.board_result?.points ? points(rules.board_result.points) : null;
  const also = scored ? [`, ${scored} for the board`] : [];
  if (rules.phase === "match_over") {
    if (winner === "draw") return line("The match is a draw", ...also);
    if (!winner) return over("match");
    return line(...who.team(winner), who.verb(winner, " wins the match", " win the match"), ...also);
  }
  const board = rules.board_result;
  if (rules.phase !== "board_over" || !board) return null;
  if (!board.winner) return over("board");
  return line(...who.team(board.winner), who.verb(board.winner, " wins the board", " win the board"), ...(scored ? [`: ${scored}`] : []));
}

function turnLine(doc, who) {
  const rules = doc.rules;
  const turn = rules.turn;
  if (!turn) return null;
  if (rules.game === "carpetball") {
    const player = who.name(rules.ends?.[turn.end]?.player ?? 0);
    if (rules.phase === "line_up") return { kind: "turn", parts: ["Line up the balls · ", player, " throws first"] };
    const parts = turn.final_throw ? [player, " has the final throw"] : [player, " to throw"];
    return { kind: turn.final_throw ? "final" : "turn", parts: rules.phase === "standoff" ? ["Standoff · ", ...parts] : parts };
  }
  const doing = turn.must_cover ? " to cover the queen" : " to play";
  return { kind: turn.must_cover ? "cover" : "turn", parts: [who.name(turn.player), doing] };
}

function queenLine(doc, who) {
  const queen = doc.rules.queen;
  if (!queen) return null;
  const by = queen.side ? [" by ", ...who.team(queen.side)] : [];
  const said = {
    on_board: ["Queen on the board"],
    uncovered: ["Queen pocketed", ...by, ", to cover"],
    covered: ["Queen covered", ...by],
  };
  return { kind: "queen", parts: said[queen.status] ?? [`Queen ${words(queen.status)}`, ...by] };
}

function value(question, one, who) {
  if (one === true) return "yes";
  if (one === false) return "no";
  if (question.kind === "who_shot") return who.name(one);
  return typeof one === "number" ? String(one) : objectWord(one);
}

function questionLine(doc, who, question) {
  const at = question.place ? place(doc, question.place) : "the table";
  const asked = {
    what_fell: `What fell in ${at}?`,
    how_many: `How many fell in ${at}?`,
    did_it_fall: `Did something fall in ${at}?`,
    cue: `Which was the cue ball in ${at}?`,
    who_shot: question.stroke ? `Who played stroke ${question.stroke}?` : "Who played this stroke?",
  };
  const answers = list(question.candidates).map((one) => ({ part: value(question, one, who), value: one }));
  const assumed = question.assumed ?? null;
  return {
    kind: "question",
    parts: [asked[question.kind] ?? `${words(question.kind)}?`],
    question: question.id,
    answers,
    detail: either(answers.map((answer) => answer.part)),
    assumed: assumed === null ? [] : ["taken as ", value(question, assumed, who), " if nobody answers"],
  };
}

function instructionLine(instruction, who) {
  const { object, count = 1, to } = instruction;
  const what =
    object === "queen" || object === "striker" || object === "cue"
      ? `the ${objectWord(object)}`
      : object
        ? `${inWords(count)} ${objectWord(object)}${object === "ball" && count !== 1 ? "s" : ""}`
        : "";
  const verb = instruction.do === "return" ? "put" : words(instruction.do ?? "");
  const where = to ? (/^(north|south)$/.test(to) ? `at the ${to} end` : `in the ${words(to)}`) : instruction.do === "return" ? "back" : "";
  const told = [verb, what, where].filter(Boolean).join(" ");
  const by = instruction.by_player;
  return {
    kind: "instruction",
    parts: by ? [who.name(by), `: ${told}`] : [told.charAt(0).toUpperCase() + told.slice(1)],
  };
}

function strokeLine(doc, who) {
  const stroke = doc.stroke;
  if (!stroke) return null;
  const fallen = list(stroke.fallen);
  const jumped = list(stroke.jumped).map(objectWord);
  const parts = ["This stroke", ...(stroke.player ? [" of ", who.name(stroke.player)] : []), " so far:"];
  if (jumped.length) parts.push(` off the table ${jumped.join(", ")};`);
  if (!fallen.length) parts.push(" nothing fell");
  const chips = fallen.map((thing) => ({
    object: thing.object ?? "unknown",
    word: thing.object ? objectWord(thing.object) : list(thing.candidates).length ? `${plain(either(thing.candidates.map(objectWord)))}?` : "unknown",
    place: thing.place ? words(thing.place) : "",
    provisional: thing.provisional === true,
    assumed: thing.how === "assumed",
  }));
  return { kind: "stroke", parts, chips };
}

function lastLine(doc, who) {
  const last = doc.last_result?.board_result;
  if (doc.rules.game !== "club_carrom" || doc.rules.phase !== "playing" || !last) return null;
  return { kind: "last", parts: ["Last board: ", ...who.team(last.winner), `, ${points(last.points)}`] };
}

// What the appliance says is not well with itself.
function faultLines(doc, health) {
  const beams = Object.entries(health?.beams ?? {})
    .filter(([, beam]) => !["ok", "unknown"].includes(beam.state))
    .map(([id, beam]) => `Beam ${words(id)} is ${words(beam.state)}: it scores nothing`);
  const sources = Object.entries(health?.sources ?? {})
    .filter(([, source]) => source.state === "lost")
    .map(([id]) => `The sensor board “${id}” is not answering: score by hand`);
  const unsafe = health?.journal?.safe === false;
  const journal = unsafe ? [`The score is not safe: ${health.journal.reason ?? "a power cut would lose it"}`] : [];
  return [...journal, ...sources, ...beams].map((said) => ({ kind: "fault", parts: [said] }));
}

function lines(doc, who, health) {
  const rules = doc.rules;
  const pending = list(doc.pending).length;
  const queue = list(rules.queue).map(who.name);
  return [
    doc.paused ? { kind: "paused", parts: ["Paused: nothing scores"] } : null,
    resultLine(doc, who),
    ...faultLines(doc, health),
    ...list(doc.questions).map((question) => questionLine(doc, who, question)),
    ...list(doc.instructions).map((instruction) => instructionLine(instruction, who)),
    pending ? { kind: "pending", parts: [pending === 1 ? "One stroke is not judged yet" : `${pending} strokes are not judged yet`] } : null,
    turnLine(doc, who),
    strokeLine(doc, who),
    queenLine(doc, who),
    queue.length ? { kind: "queue", parts: ["Waiting: ", ...queue.flatMap((name, index) => (index ? [", ", name] : [name]))] } : null,
    lastLine(doc, who),
  ].filter(Boolean);
}

function heading(doc, info) {
  const rules = doc.rules;
  const parts = [GAMES[rules.game] ?? words(rules.game)];
  if (rules.board && rules.game !== "money_carrom") parts.push(`board ${rules.board}`);
  if (rules.round) parts.push(`round ${rules.round}`);
  const target = info?.options?.["cc.target"];
  if (rules.game === "club_carrom" && target) parts.push(`first to ${target}`);
  if (rules.phase === "standoff") parts.push("standoff");
  return parts.join(" · ");
}

const LAYOUTS = { money_carrom: moneyPanels, carpetball: endPanels };

// The view model of one `state` document, with the newest `info` and `health` where they have come.
export function view(published, { info = null, health = null } = {}) {
  const who = naming(published);
  const rules = abandoned(published) ? { ...published.rules, turn: null } : published.rules;
  const doc = { ...published, rules };
  const panels = (LAYOUTS[rules.game] ?? sidePanels)(doc, who);
  const pool = Object.entries(rules.on_board ?? {}).map(([object, count]) => ({
    object,
    count,
    of: Math.max(CARROM_SET[object] ?? count, count),
    counted: true,
    word: `${objectWord(object)} left`,
  }));
  const below = lines(doc, who, health);
  const sums = panels.map((panel) => `${plain(panel.names.flatMap((name, i) => (i ? [" and ", name] : [name])))} ${panel.score}`);
  const pieceSums = [...panels.map((panel) => panel.left), ...pool].filter((left) => left?.counted).map((left) => `${left.word} ${left.count}`);
  const first = below.find((line) => ["paused", "result", "turn", "cover", "final"].includes(line.kind));
  return {
    game: rules.game,
    heading: heading(doc, info),
    panels,
    pool,
    lines: below,
    title: `${sums.join(" – ")} · Pocketbeam`,
    spoken: `${[sums.join(", "), pieceSums.join(", "), first ? plain(first.parts) : ""].filter(Boolean).join(". ")}.`,
  };
}

// One sentence about what just happened, or null where the board itself says enough.
export function news(event, doc) {
  if (!doc?.rules) return null;
  const who = naming(doc);
  const by = event.player ? [who.name(event.player)] : event.side === "A" || event.side === "B" ? who.team(event.side) : ["The table"];
  const told = {
    foul: ["Foul", ...(event.player || event.side ? [" by ", ...by] : [])],
    queen_pocketed: [...by, ": queen pocketed"],
    queen_covered: [...by, ": queen covered"],
    queen_returned: ["The queen goes back to the board"],
    due_paid: [...by, ": a due is paid"],
    turn_missed: [...by, ": turn missed"],
    standoff: ["Standoff"],
    corrected: ["The score has been corrected"],
    recounted: ["The board has been recounted"],
    undone: ["The last step has been taken back"],
    redone: ["The step stands again"],
    players_changed: ["The players have changed"],
    match_started: ["A new match begins"],
    match_abandoned: ["The match was abandoned"],
    passage_not_scored: ["Something passed a beam; it is not scored"],
    beam_fault: ["A beam has a fault", ...(event.beam ? [`: ${words(event.beam)}`] : [])],
    beam_well: ["A beam is well again", ...(event.beam ? [`: ${words(event.beam)}`] : [])],
    source_lost: ["The sensor board is not answering"],
    source_back: ["The sensor board is back"],
    journal_unsafe: ["The score cannot be saved at the moment"],
    journal_safe: ["The score is saved again"],
  };
  return told[event.event] ?? null;
}
