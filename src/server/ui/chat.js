// The conversation on the page, and answers as they come.
import { stream } from "./api.js";
import { render } from "./markdown.js";

const RENDER_MS = 80;

function element(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

function button(label, action, title) {
  const made = element("button", "quiet", label);
  made.type = "button";
  made.dataset.action = action;
  if (title) made.setAttribute("aria-label", title);
  return made;
}

// A text with its files, as the model gets it.
export function wholeText(message) {
  const files = (message.files || []).map((file) => {
    const fence = "`".repeat(Math.max(3, ...[...file.text.matchAll(/`+/g)].map((run) => run[0].length + 1)));
    return `File ${file.name}:\n${fence}\n${file.text}\n${fence}`;
  });
  return [...files, message.text].filter((part) => part !== "").join("\n\n");
}

// What the last line of an answer tells of its cost.
export function ratesOf(message) {
  const { usage, timings, ms } = message;
  if (!usage) return "";
  const parts = [`${usage.prompt_tokens} + ${usage.completion_tokens} tokens`];
  const cached = usage.prompt_tokens_details && usage.prompt_tokens_details.cached_tokens;
  if (cached) parts[0] += ` (${cached} cached)`;
  if (timings && timings.predicted_per_second > 0) parts.push(`${timings.predicted_per_second.toFixed(1)} tokens/s`);
  if (ms && ms.first !== undefined) parts.push(`first after ${(ms.first / 1000).toFixed(2)} s`);
  return parts.join(" · ");
}

const ENDS = { length: "Cut off at the token limit.", content_filter: "Ended by the server's guard rules.", stopped: "Stopped." };

export class ChatView {
  // `hooks`: body(conversation) of a request, path(), changed(), busy(bool), failed(error), say(text).
  constructor(store, hooks) {
    this.store = store;
    this.hooks = hooks;
    this.list = document.getElementById("messages");
    this.scroller = document.getElementById("scroller");
    this.running = null;
    this.list.addEventListener("click", (event) => this.clicked(event));
  }

  get busy() {
    return this.running !== null;
  }

  show() {
    const { messages } = this.store.current;
    document.getElementById("welcome").hidden = messages.length > 0;
    this.list.replaceChildren(...messages.map((message, index) => this.item(message, index)));
    this.toEnd(true);
  }

  item(message, index) {
    const isUser = message.role === "user";
    const item = element("li", isUser ? "user" : "assistant", element("span", "who", isUser ? "You" : message.model || "Assistant"));
    item.dataset.index = index;
    if (isUser) {
      item.append(element("div", "text", message.text));
      if (message.files && message.files.length > 0) {
        item.append(element("ul", "chips", ...message.files.map((file) => element("li", "", file.name))));
      }
      item.append(element("div", "foot", button("Copy", "copy", "Copy this message"), button("Edit", "edit", "Edit this message and ask again")));
      return item;
    }
    this.fill(item, message);
    return item;
  }

  // An assistant's message, anew.
  fill(item, message) {
    const who = item.querySelector(".who");
    const wasOpen = item.querySelector("details")?.open;
    const parts = [who];
    if (message.reasoning) {
      const thoughts = element("div", "text");
      thoughts.append(render(message.reasoning));
      const box = element("details", "", element("summary", "", "Thoughts"), thoughts);
      box.open = wasOpen ?? (message.pending && !message.text);
      parts.push(box);
    }
    const text = element("div", message.pending ? "text caret" : "text");
    text.append(render(message.text));
    parts.push(text);
    if (message.error) parts.push(element("p", "failed", message.error));
    const ends = ENDS[message.end];
    if (ends) parts.push(element("p", "hint", ends));
    if (!message.pending) {
      const rates = element("span", "rates", ratesOf(message));
      parts.push(element("div", "foot", button("Copy", "copy", "Copy this answer"), button("Regenerate", "again", "Answer again"), rates));
    }
    item.replaceChildren(...parts);
    item.setAttribute("aria-busy", message.pending ? "true" : "false");
  }

  toEnd(always) {
    const { scroller } = this;
    const near = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 160;
    if (always || near) scroller.scrollTop = scroller.scrollHeight;
  }

  async clicked(event) {
    const pressed = event.target.closest("button");
    if (!pressed) return;
    if (pressed.dataset.copy === "code") return this.copy(pressed.closest(".code").querySelector("code").textContent, pressed);
    const index = Number(pressed.closest("li[data-index]")?.dataset.index);
    const { messages } = this.store.current;
    const message = messages[index];
    if (!message) return;
    if (pressed.dataset.action === "copy") return this.copy(message.role === "user" ? wholeText(message) : message.text, pressed);
    if (this.busy) return;
    if (pressed.dataset.action === "edit") this.edit(index);
    if (pressed.dataset.action === "again") {
      messages.length = index;
      await this.answer();
    }
  }

  async copy(text, pressed) {
    const before = pressed.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // A page that came over plain HTTP from another machine has no clipboard of its own.
      const area = element("textarea", "sr");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      pressed.focus();
    }
    pressed.textContent = "Copied";
    this.hooks.say("Copied");
    setTimeout(() => { pressed.textContent = before; }, 1500);
  }

  edit(index) {
    const message = this.store.current.messages[index];
    const item = this.list.children[index];
    const area = element("textarea");
    area.value = message.text;
    area.rows = Math.min(12, message.text.split("\n").length + 1);
    area.setAttribute("aria-label", "Edit the message");
    const save = element("button", "primary", "Ask again");
    save.type = "submit";
    const cancel = element("button", "quiet", "Cancel");
    cancel.type = "button";
    const form = element("form", "", area, element("div", "row", save, cancel));
    const close = () => {
      const back = this.item(message, index);
      item.replaceWith(back);
      back.querySelector("[data-action=edit]").focus();
    };
    cancel.addEventListener("click", close);
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape") close();
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); form.requestSubmit(); }
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!area.value.trim() && !(message.files || []).length) return;
      message.text = area.value;
      this.store.current.messages.length = index + 1;
      this.answer();
    });
    item.replaceChildren(item.querySelector(".who"), form);
    area.focus();
  }

  async send(text, files) {
    this.store.current.messages.push({ role: "user", text, files });
    await this.answer();
  }

  stop() {
    this.running?.abort();
  }

  async answer() {
    const conversation = this.store.current;
    const body = this.hooks.body(conversation);
    const message = { role: "assistant", text: "", reasoning: "", model: body.model, pending: true };
    conversation.messages.push(message);
    this.store.touch(conversation);
    this.hooks.changed();
    this.show();
    const item = () => this.store.current === conversation ? this.list.children[conversation.messages.indexOf(message)] : null;
    this.running = new AbortController();
    this.hooks.busy(true);
    this.hooks.say("The answer is coming.");
    const began = performance.now();
    let drawn = 0;
    let timer = 0;
    const draw = () => {
      timer = 0;
      drawn = performance.now();
      const place = item();
      if (place) this.fill(place, message);
      this.toEnd(false);
    };
    try {
      for await (const chunk of stream(this.hooks.path(), body, this.running.signal)) {
        if (this.take(message, chunk, began) && timer === 0) timer = setTimeout(draw, Math.max(0, drawn + RENDER_MS - performance.now()));
      }
      if (!message.end) message.error = "The connection ended before the answer did.";
    } catch (error) {
      if (error.name === "AbortError") message.end = "stopped";
      else {
        message.error = error.message;
        this.hooks.failed(error);
      }
    }
    clearTimeout(timer);
    delete message.pending;
    this.running = null;
    draw();
    this.store.touch(conversation);
    this.hooks.busy(false);
    this.hooks.changed();
    this.hooks.say(message.error ? `The answer failed: ${message.error}` : `The answer is there: ${message.text.slice(0, 300)}`);
  }

  // What a chunk of the stream adds; whether there is something to show.
  take(message, chunk, began) {
    if (chunk.usage) message.usage = chunk.usage;
    const choice = (chunk.choices || [])[0];
    if (!choice) return false;
    const delta = choice.delta || { content: choice.text };
    const news = (delta.content || "") + (delta.reasoning_content || "");
    if (news && !message.ms) message.ms = { first: performance.now() - began };
    message.text += delta.content || "";
    message.reasoning += delta.reasoning_content || "";
    if (choice.finish_reason) message.end = choice.finish_reason;
    if (choice.timings) message.timings = choice.timings;
    return news !== "" || Boolean(choice.finish_reason);
  }
}
