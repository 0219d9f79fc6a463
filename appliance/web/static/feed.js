// The page's one connection to the broker: opened again with back-off, never twice at once.
//
// A new client is made for each attempt, so that nothing of an old session is left over, and every topic is
// subscribed by name. Frequent pings tell a dead network from a quiet table; a connection that stays silent is
// given up while the page can be seen (a hidden page's timers are held back, so its silence says nothing).

import mqtt from "./vendor/mqtt.esm.js";

const PING_MS = 1500;
const GIVE_UP_MS = 6000;
const CONNECT_MS = 2500;
const WAITS_MS = [250, 500, 1000];

// Close codes of the relay, and those of a connection that ended in between.
const REASONS = {
  4001: "the broker is away",
  4002: "the broker is away",
  4003: "the broker cannot be trusted",
  1013: "too many boards are open",
  1001: "the appliance is restarting",
};
const NO_CONNECTION = "no connection to the appliance";

export class Feed {
  #url;
  #topics;
  #on;
  #client = null;
  #attempt = 0;
  #again = null;

  constructor(url, topics, on) {
    this.#url = url;
    this.#topics = topics;
    this.#on = on;
    this.heardMs = 0;
    setInterval(() => this.#ping(), PING_MS);
  }

  // Connect afresh; whatever connection there was is dropped.
  open() {
    clearTimeout(this.#again);
    this.#drop();
    let reason = NO_CONNECTION;
    const client = mqtt.connect(this.#url, {
      protocolVersion: 4,
      clientId: `pocketbeam-page-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`,
      clean: true,
      keepalive: 60,
      reconnectPeriod: 0,
      connectTimeout: CONNECT_MS,
      timerVariant: "native",
      createWebsocket: (url, protocols) => {
        const socket = new WebSocket(url, protocols);
        socket.addEventListener("open", () => (reason = "the broker does not answer"));
        socket.addEventListener("close", (event) => {
          reason = REASONS[event.code] ?? reason;
          this.#lost(client, reason);
        });
        return socket;
      },
    });
    this.#client = client;
    client.on("packetreceive", () => (this.heardMs = Date.now()));
    client.on("message", (topic, payload, packet) => {
      if (client === this.#client) this.#on.message(topic, payload.toString(), packet.retain);
    });
    client.on("connect", () => {
      client.subscribe(this.#topics, { qos: 1 }, (error, granted) => {
        if (client !== this.#client) return;
        if (error || granted.some((one) => one.qos > 2)) {
          this.#lost(client, "the broker refuses to show this table");
          return;
        }
        this.#attempt = 0;
        reason = NO_CONNECTION;
        this.#on.connected();
      });
    });
    client.on("error", (error) => {
      if (typeof error.code === "number" && error.code > 0 && error.code < 6) reason = "the broker refuses this page";
    });
    client.on("close", () => this.#lost(client, reason));
  }

  // The page can be seen again: what was missed while it slept is fetched at once.
  wake(quietMs) {
    if (this.#again !== null || Date.now() - this.heardMs > quietMs) this.open();
  }

  // Say something; where there is no connection nobody hears it.
  publish(topic, text) {
    this.#client?.publish(topic, text, { qos: 1 });
  }

  #ping() {
    const client = this.#client;
    if (!client?.connected) return;
    if (!document.hidden && Date.now() - this.heardMs > GIVE_UP_MS) this.#lost(client, "the broker does not answer");
    else client.sendPing();
  }

  #drop() {
    const client = this.#client;
    this.#client = null;
    this.#again = null;
    client?.end(true);
  }

  #lost(client, reason) {
    if (client !== this.#client) return;
    this.#drop();
    this.#on.lost(reason);
    const wait = WAITS_MS[Math.min(this.#attempt++, WAITS_MS.length - 1)];
    this.#again = setTimeout(() => this.open(), wait * (0.75 + Math.random() / 2));
  }
}
