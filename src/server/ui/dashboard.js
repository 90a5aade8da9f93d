// The server's figures as they change, from /metrics.
import { getText } from "./api.js";

const EVERY_MS = 2000;
const KEPT = 90;  // points of a line

// Prometheus' text format: {name: [{labels, value}]}.
export function parseMetrics(text) {
  const found = new Map();
  for (const line of text.split("\n")) {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
    if (!match) continue;
    const labels = {};
    for (const [, name, value] of (match[2] || "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[name] = value;
    if (!found.has(match[1])) found.set(match[1], []);
    found.get(match[1]).push({ labels, value: Number(match[3]) });
  }
  return found;
}

// The share `q` of a histogram's values lies below this; null where there are none. `before`: counts to leave out.
export function quantile(buckets, before, q) {
  const old = new Map((before || []).map(({ labels, value }) => [labels.le, value]));
  const sums = new Map();
  for (const { labels, value } of buckets || []) {
    const le = labels.le === "+Inf" ? Infinity : Number(labels.le);
    sums.set(le, (sums.get(le) || 0) + value - (old.get(labels.le) || 0));
  }
  const edges = [...sums].sort((a, b) => a[0] - b[0]);
  const total = edges.length > 0 ? edges[edges.length - 1][1] : 0;
  if (total <= 0) return null;
  let low = 0;
  let count = 0;
  for (const [le, upTo] of edges) {
    if (upTo >= q * total) {
      if (le === Infinity) return low;
      return low + (le - low) * ((q * total - count) / Math.max(1, upTo - count));
    }
    low = le;
    count = upTo;
  }
  return low;
}

const number = (value, digits = 0) => value.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: digits });
const percent = (value) => `${number(value * 100, 1)} %`;
const bytes = (value) => (value >= 1e9 ? `${number(value / 1e9, 2)} GB` : `${number(value / 1e6, 1)} MB`);
const seconds = (value) => (value === null ? "\u2013" : value < 1 ? `${number(value * 1000, value < 0.01 ? 1 : 0)} ms` : `${number(value, 2)} s`);

function make(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

class Card {
  constructor(title, hasLine) {
    this.place = make("section", "card");
    this.place.append(make("h2", "", title));
    this.value = this.place.appendChild(make("p", "value", "\u2013"));
    this.more = this.place.appendChild(make("p", "more"));
    this.points = [];
    if (!hasLine) return;
    this.drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    this.drawing.setAttribute("viewBox", `0 0 ${KEPT - 1} 30`);
    this.drawing.setAttribute("preserveAspectRatio", "none");
    this.drawing.setAttribute("aria-hidden", "true");
    this.line = this.drawing.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "polyline"));
    this.place.append(this.drawing);
  }

  show(value, more, point) {
    this.value.textContent = value;
    this.more.textContent = more || "";
    if (!this.line || point === undefined) return;
    this.points = [...this.points, point].slice(-KEPT);
    const top = Math.max(...this.points, 1e-9);
    const first = KEPT - this.points.length;
    this.line.setAttribute("points", this.points.map((y, x) => `${first + x},${(29 - (y / top) * 28).toFixed(2)}`).join(" "));
  }
}

export class Dashboard {
  constructor(board, state) {
    this.board = board;
    this.state = state;
    this.cards = new Map();
    this.before = null;
    this.first = null;
    this.timer = 0;
    document.addEventListener("visibilitychange", () => { if (this.runs) this.look(); });
  }

  start() {
    if (this.runs) return;
    this.runs = true;
    this.look();
  }

  stop() {
    this.runs = false;
    clearTimeout(this.timer);
  }

  async look() {
    clearTimeout(this.timer);
    if (!this.runs || document.hidden) return;
    try {
      const now = { time: performance.now() / 1000, all: parseMetrics(await getText("/metrics")) };
      this.first = this.first || now;
      this.show(now);
      this.before = now;
      this.state.textContent = `As of ${new Date().toLocaleTimeString()}, every ${EVERY_MS / 1000} s. Latencies are those since this page was opened.`;
    } catch (error) {
      this.state.textContent = `No figures: ${error.message}`;
    }
    this.timer = setTimeout(() => this.look(), EVERY_MS);
  }

  card(title, hasLine = true) {
    if (!this.cards.has(title)) {
      this.cards.set(title, new Card(title, hasLine));
      this.board.append(this.cards.get(title).place);
    }
    return this.cards.get(title);
  }

  show(now) {
    const sum = (from, name, labels = {}) => {
      const series = from && from.all.get(name);
      if (!series) return null;
      return series.filter((one) => Object.entries(labels).every(([key, value]) => one.labels[key] === value))
        .reduce((total, one) => total + one.value, 0);
    };
    const rate = (name) => {
      if (!this.before || sum(now, name) === null) return null;
      return Math.max(0, (sum(now, name) - (sum(this.before, name) || 0)) / Math.max(0.1, now.time - this.before.time));
    };
    const has = (name) => now.all.has(name);

    const running = sum(now, "adit_num_requests_running");
    if (running !== null) {
      this.card("Running").show(number(running), "sequences in the batch", running);
      const waiting = sum(now, "adit_num_requests_waiting") || 0;
      const queue = sum(now, "adit_estimated_queue_seconds");
      this.card("Waiting").show(number(waiting), queue === null ? "" : `a request that came now would wait ${seconds(queue)}`, waiting);
    } else {
      this.card("Running").show("\u2013", "no model is loaded");
    }
    for (const [title, name] of [["Tokens made", "adit_generation_tokens_total"], ["Tokens read", "adit_prompt_tokens_total"]]) {
      if (!has(name)) continue;
      const speed = rate(name);
      this.card(title).show(speed === null ? "\u2013" : `${number(speed, 1)} /s`, `${number(sum(now, name))} in all`, speed ?? undefined);
    }
    if (has("adit_kv_pages_total")) {
      const used = sum(now, "adit_kv_cache_usage_ratio");
      const pages = sum(now, "adit_kv_pages_total");
      const cached = sum(now, "adit_kv_pages_cached");
      this.card("Cache pages").show(percent(used), `${number(used * pages)} held, ${number(cached)} kept for reuse, of ${number(pages)}`, used);
    }
    const asked = sum(now, "adit_prefix_cache_queries_total");
    if (asked !== null) {
      const hits = sum(now, "adit_prefix_cache_hits_total");
      const share = asked > 0 ? hits / asked : 0;
      this.card("Prefix hits").show(percent(share), `${number(hits)} of ${number(asked)} prompt tokens were in the cache`, share);
    }
    this.latency(now, "First token", "adit_time_to_first_token_seconds");
    this.latency(now, "Between tokens", "adit_inter_token_latency_seconds");
    this.latency(now, "Whole request", "adit_e2e_request_latency_seconds");
    if (has("adit_roofline_ratio")) {
      const share = sum(now, "adit_roofline_ratio", { phase: "decode" });
      this.card("Share of the roofline").show(percent(share), "of the measured memory speed, while tokens are made", share);
    }
    if (has("adit_cpu_usage_ratio")) {
      const share = sum(now, "adit_cpu_usage_ratio");
      this.card("Processor").show(percent(share), `of ${number(sum(now, "adit_cpus"))} processors`, share);
    }
    const resident = sum(now, "process_resident_memory_bytes");
    if (resident !== null) this.card("Memory").show(bytes(resident), has("adit_memory_bytes") ? this.pools(now) : "occupied", resident);
    const steps = now.all.get("adit_step_seconds_total");
    if (steps) {
      const total = steps.reduce((all, one) => all + one.value, 0);
      const text = steps.map((one) => `${one.labels.phase} ${percent(total > 0 ? one.value / total : 0)}`).join(", ");
      this.card("Steps", false).show(number(sum(now, "adit_engine_steps_total")), text);
    }
    const guarded = now.all.get("adit_guard_verdicts_total");
    if (guarded) {
      const text = guarded.map(({ labels, value }) => `${labels.rule} (${labels.action}, ${labels.side}): ${number(value)}`).join("; ");
      this.card("Guard", false).show(number(sum(now, "adit_guard_verdicts_total")), text);
    }
    this.card("Connections", false).show(number(sum(now, "adit_http_connections") || 0), `${number(sum(now, "http_requests_total") || 0)} requests answered`);
  }

  latency(now, title, name) {
    const buckets = now.all.get(`${name}_bucket`);
    if (!buckets) return;
    const before = this.first === now ? [] : this.first.all.get(`${name}_bucket`);
    const half = quantile(buckets, before, 0.5);
    const most = quantile(buckets, before, 0.95);
    this.card(title).show(seconds(half), `half of all; 95 %: ${seconds(most)}`, half ?? undefined);
  }

  pools(now) {
    return now.all.get("adit_memory_bytes").map(({ labels, value }) => `${labels.pool} ${bytes(value)}`).join(", ");
  }
}
