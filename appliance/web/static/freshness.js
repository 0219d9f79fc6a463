// Whether the board may be believed now, and if not, why. Pure: times are milliseconds of the page's own clock.

export const SILENCE_MS = 4000; // two answers in a row are missing (feed.js pings)

// Until when a `health` document holds. Its sender's clock counts only where the message is an old one that
// the broker kept (it may come from before a restart) and that clock was right; else the arrival counts.
export function healthUntil(health, retained, nowMs) {
  const validMs = Number(health.valid_for_s) * 1000;
  if (!(validMs > 0)) return null;
  const said = Date.parse(health.at);
  if (retained && health.clock_synchronised === true && said < nowMs) return said + validMs;
  return nowMs + validMs;
}

// {live, reason}: `reason` is a clause for the stale mark.
export function freshness({ connected, reason, availability, hasState, heardMs, healthUntilMs }, nowMs) {
  const stale = (why) => ({ live: false, reason: why });
  if (!connected) return stale(reason);
  if (nowMs - heardMs > SILENCE_MS) return stale("the connection is silent");
  if (availability === "offline") return stale("the table is off");
  if (availability === null) return stale("the table has not reported");
  if (!hasState) return stale("no score has come yet");
  if (healthUntilMs !== null && nowMs >= healthUntilMs) return stale("nothing is heard from the table");
  return { live: true, reason: null };
}

const two = (number) => String(number).padStart(2, "0");

// "stale since 14:05", with the day where it is not today's
export function sinceWords(sinceMs, nowMs) {
  const since = new Date(sinceMs);
  const clock = `${two(since.getHours())}:${two(since.getMinutes())}`;
  const day = since.toDateString() === new Date(nowMs).toDateString()
    ? ""
    : `${since.getFullYear()}-${two(since.getMonth() + 1)}-${two(since.getDate())} `;
  return `stale since ${day}${clock}`;
}
