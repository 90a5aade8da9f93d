// The page: what is shown when, settings, the model, and files.
import { ApiError, getJson, hasKey, setKey } from "./api.js";
import { ChatView, wholeText } from "./chat.js";
import { Dashboard } from "./dashboard.js";
import { Store } from "./store.js";

const byId = (id) => document.getElementById(id);
const MAX_FILE_BYTES = 1 << 20;
// Fields of requests: name, label, lowest, highest, step; the name of the default where /v1/models has it.
const FIELDS = [
  ["temperature", "Temperature", 0, 2, 0.05],
  ["top_p", "Top p", 0, 1, 0.01],
  ["top_k", "Top k", 0, 1000, 1],
  ["min_p", "Min p", 0, 1, 0.01],
  ["repetition_penalty", "Repetition penalty", 0.1, 10, 0.05],
  ["presence_penalty", "Presence penalty", -2, 2, 0.1],
  ["frequency_penalty", "Frequency penalty", -2, 2, 0.1],
  ["max_tokens", "Most tokens", 1, 1000000, 1],
  ["seed", "Seed", 0, 4294967295, 1],
];

const store = new Store(() => tell("This browser has no more room for conversations: delete some."));
const dashboard = new Dashboard(byId("board"), byId("board-state"));
let models = [];
let files = [];
let poll = 0;

function tell(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = text === "";
}

function say(text) {
  byId("spoken").textContent = text;
}

const model = () => models.find((one) => one.id === byId("model").value);
const canChat = () => (model()?.capabilities || ["chat"]).includes("chat");

const chat = new ChatView(store, {
  path: () => (canChat() ? "/v1/chat/completions" : "/v1/completions"),
  body: requestBody,
  changed: showConversations,
  busy(isBusy) {
    byId("send").hidden = isBusy;
    byId("stop").hidden = !isBusy;
    if (!isBusy && document.activeElement === document.body) byId("prompt").focus();
  },
  failed: noteFailure,
  say,
});

function requestBody(conversation) {
  const body = { model: byId("model").value, stream: true, stream_options: { include_usage: true }, timings: true };
  for (const [name] of FIELDS) {
    if (Number.isFinite(store.settings[name])) body[name] = store.settings[name];
  }
  const stops = (store.settings.stop || "").split("\n").filter((line) => line !== "");
  if (stops.length > 0) body.stop = stops;
  const said = conversation.messages.filter((message) => !message.error || message.text);
  if (!canChat()) {
    // A model without a template for chats goes on from the text so far.
    body.prompt = [conversation.system, ...said.map(wholeText)].filter((text) => text).join("\n\n");
    if (!body.max_tokens) body.max_tokens = 256;
    return body;
  }
  body.messages = said.map((message) => ({ role: message.role, content: message.role === "user" ? wholeText(message) : message.text }));
  if (conversation.system) body.messages.unshift({ role: "system", content: conversation.system });
  return body;
}

function noteFailure(error) {
  if (error.status === 401 || error.status === 403) askForKey(hasKey() ? "This key does not do for that" : "This server wants an API key");
}

function askForKey(text) {
  byId("key-form").hidden = false;
  byId("key-form").querySelector("label").textContent = text;
  byId("key").focus();
}

async function loadModels() {
  clearTimeout(poll);
  try {
    models = (await getJson("/v1/models")).data;
  } catch (error) {
    if (error instanceof ApiError && (error.status === 401 || error.status === 403)) return noteFailure(error);
    tell(error.message);
    poll = setTimeout(loadModels, 3000);
    return;
  }
  byId("key-form").hidden = true;
  const select = byId("model");
  const wanted = store.settings.model;
  select.replaceChildren(...models.map((one) => new Option(one.status === "loading" ? `${one.id} (loading)` : one.id, one.id)));
  if (models.some((one) => one.id === wanted)) select.value = wanted;
  showModel();
  const loading = models.filter((one) => one.status === "loading");
  tell(loading.map((one) => `${one.id} is being loaded: ${Math.round((one.progress || 0) * 100)} %`).join("; "));
  if (loading.length > 0) poll = setTimeout(loadModels, 1000);
}

function showModel() {
  const one = model();
  const defaults = one?.defaults || {};
  for (const [name] of FIELDS) byId(`field-${name}`).placeholder = defaults[name] ?? (name === "seed" ? "random" : "");
  const embeds = one && one.capabilities && !one.capabilities.includes("completion");
  byId("send").disabled = Boolean(embeds);
  byId("welcome-text").textContent = embeds ? "This model makes embeddings and does not answer."
    : canChat() ? "Enter sends, Shift+Enter begins a new line, Esc stops an answer."
      : "This model has no template for chats: it goes on from what you write.";
}

function makeFields() {
  const set = byId("sampling");
  for (const [name, label, min, max, step] of FIELDS) {
    const input = document.createElement("input");
    Object.assign(input, { id: `field-${name}`, type: "number", min, max, step, value: store.settings[name] ?? "" });
    input.addEventListener("change", () => {
      if (input.value === "" || !input.checkValidity()) delete store.settings[name];
      else store.settings[name] = Number(input.value);
      input.value = store.settings[name] ?? "";
      store.save();
    });
    const text = document.createElement("label");
    text.htmlFor = input.id;
    text.textContent = label;
    set.append(text, input);
  }
  const stop = document.createElement("textarea");
  Object.assign(stop, { id: "field-stop", rows: 2, className: "wide", value: store.settings.stop || "" });
  stop.addEventListener("change", () => { store.settings.stop = stop.value; store.save(); });
  const text = document.createElement("label");
  Object.assign(text, { htmlFor: stop.id, textContent: "Stop at these texts, one a line", className: "wide" });
  set.append(text, stop);
}

function showConversations() {
  const list = byId("conversations");
  list.replaceChildren(...store.list.map((one) => {
    const title = one.title || "New chat";
    const name = Object.assign(document.createElement("button"), { type: "button", className: "name", textContent: title, title });
    const drop = Object.assign(document.createElement("button"), { type: "button", className: "drop", textContent: "\u00D7" });
    drop.setAttribute("aria-label", `Delete "${title}"`);
    const item = document.createElement("li");
    if (one === store.current) {
      item.dataset.current = "";
      name.setAttribute("aria-current", "true");
    }
    name.addEventListener("click", () => open(one.id));
    drop.addEventListener("click", () => {
      if (chat.busy) return;
      store.remove(one.id);
      showAll();
      byId("new-chat").focus();
    });
    item.append(name, drop);
    return item;
  }));
}

function open(id) {
  if (chat.busy) return;
  store.select(id);
  showAll();
  toggle("sidebar", false);
  byId("prompt").focus();
}

function showAll() {
  showConversations();
  byId("system").value = store.current.system || "";
  chat.show();
}

// Shows one of the side panels, or puts it away.
function toggle(name, wanted) {
  if (name === "sidebar") {
    const isOpen = byId("sidebar").classList.toggle("open", wanted);
    byId("menu").setAttribute("aria-expanded", isOpen);
    if (isOpen) byId("new-chat").focus();
    return;
  }
  const panel = byId("settings");
  panel.hidden = !(wanted ?? panel.hidden);
  byId("open-settings").setAttribute("aria-expanded", !panel.hidden);
  if (!panel.hidden) byId("system").focus();
  else if (panel.contains(document.activeElement) || document.activeElement === document.body) byId("open-settings").focus();
}

async function addFiles(list) {
  for (const file of list) {
    const text = file.size > MAX_FILE_BYTES ? null : await file.text();
    if (text === null) tell(`${file.name} is larger than 1 MB.`);
    else if (/[\u0000\uFFFD]/.test(text)) tell(`${file.name} is no UTF-8 text.`);
    else files.push({ name: file.name, text });
  }
  showFiles();
}

function showFiles() {
  byId("attachments").replaceChildren(...files.map((file, index) => {
    const item = document.createElement("li");
    const drop = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: "\u00D7" });
    drop.setAttribute("aria-label", `Remove ${file.name}`);
    drop.addEventListener("click", () => { files.splice(index, 1); showFiles(); byId("attach").focus(); });
    item.append(file.name, drop);
    return item;
  }));
}

function fitPrompt() {
  const prompt = byId("prompt");
  prompt.style.height = "auto";
  prompt.style.height = `${prompt.scrollHeight + 2}px`;
}

async function send() {
  const text = byId("prompt").value.trim();
  if (chat.busy || byId("send").disabled || (text === "" && files.length === 0)) return;
  const attached = files;
  files = [];
  byId("prompt").value = "";
  showFiles();
  fitPrompt();
  tell("");
  await chat.send(text, attached);
}

function showView() {
  const isBoard = location.hash === "#dashboard";
  if (location.hash && !isBoard && location.hash !== "#chat") return;
  byId("chat").hidden = isBoard;
  byId("dashboard").hidden = !isBoard;
  for (const [id, current] of [["to-chat", !isBoard], ["to-dashboard", isBoard]]) {
    if (current) byId(id).setAttribute("aria-current", "page");
    else byId(id).removeAttribute("aria-current");
  }
  if (isBoard) dashboard.start();
  else dashboard.stop();
}

function listen() {
  const on = (id, type, what) => byId(id).addEventListener(type, what);
  on("composer", "submit", (event) => { event.preventDefault(); send(); });
  on("prompt", "input", fitPrompt);
  on("prompt", "keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); send(); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    if (chat.busy) chat.stop();
    else if (byId("sidebar").classList.contains("open")) { toggle("sidebar", false); byId("menu").focus(); }
    else if (!byId("settings").hidden) toggle("settings", false);
  });
  on("stop", "click", () => chat.stop());
  on("attach", "click", () => byId("file").click());
  on("file", "change", async () => { await addFiles(byId("file").files); byId("file").value = ""; });
  on("composer", "dragover", (event) => { event.preventDefault(); byId("composer").classList.add("dragging"); });
  on("composer", "dragleave", () => byId("composer").classList.remove("dragging"));
  on("composer", "drop", (event) => {
    event.preventDefault();
    byId("composer").classList.remove("dragging");
    addFiles(event.dataTransfer.files);
  });
  on("new-chat", "click", () => { if (!chat.busy) { store.create(); open(store.current.id); } });
  on("delete-all", "click", () => { if (!chat.busy && confirm("Delete all conversations?")) { store.removeAll(); showAll(); } });
  on("menu", "click", () => toggle("sidebar"));
  on("open-settings", "click", () => toggle("settings"));
  on("close-settings", "click", () => toggle("settings", false));
  on("system", "change", () => { store.current.system = byId("system").value; store.save(); });
  on("reset-settings", "click", () => {
    store.settings = { model: store.settings.model };
    for (const input of byId("sampling").querySelectorAll("input, textarea")) input.value = "";
    store.save();
  });
  on("change-key", "click", () => askForKey("API key"));
  on("key-form", "submit", (event) => {
    event.preventDefault();
    setKey(byId("key").value, byId("key-keep").checked);
    byId("key").value = "";
    byId("key-form").hidden = true;
    byId("prompt").focus();
    loadModels();
  });
  on("model", "change", () => { store.settings.model = byId("model").value; store.save(); showModel(); });
  window.addEventListener("hashchange", showView);
}

makeFields();
listen();
showAll();
showView();
loadModels();
