// Conversations, kept in the browser's local storage.

const NAME = "adit.conversations";
const SETTINGS = "adit.settings";

function read(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

function isConversation(value) {
  return value && typeof value.id === "string" && Array.isArray(value.messages);
}

export class Store {
  // `onFull` is called when the browser has no room for what is to be kept.
  constructor(onFull) {
    this.onFull = onFull;
    const list = read(NAME, []);
    this.list = Array.isArray(list) ? list.filter(isConversation) : [];
    const settings = read(SETTINGS, {});
    this.settings = settings && typeof settings === "object" ? settings : {};
    if (this.list.length === 0) this.create();
    this.current = this.list[0];
  }

  create() {
    // One that nothing was said in yet will do.
    let fresh = this.list.find((one) => one.messages.length === 0);
    if (!fresh) {
      fresh = { id: `${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`, title: "", system: "", messages: [] };
      this.list.unshift(fresh);
    }
    this.current = fresh;
    return fresh;
  }

  select(id) {
    this.current = this.list.find((one) => one.id === id) || this.current;
  }

  remove(id) {
    this.list = this.list.filter((one) => one.id !== id);
    if (this.list.length === 0) this.create();
    if (!this.list.includes(this.current)) this.current = this.list[0];
    this.save();
  }

  removeAll() {
    this.list = [];
    this.create();
    this.save();
  }

  // The latest first.
  touch(conversation) {
    this.list = [conversation, ...this.list.filter((one) => one !== conversation)];
    const first = conversation.messages.find((message) => message.role === "user");
    if (first) conversation.title = first.text.trim().split("\n")[0].slice(0, 80) || (first.files[0] || {}).name || "";
    this.save();
  }

  save() {
    try {
      localStorage.setItem(NAME, JSON.stringify(this.list.filter((one) => one.messages.length > 0 || one.system)));
      localStorage.setItem(SETTINGS, JSON.stringify(this.settings));
    } catch {
      this.onFull();
    }
  }
}
