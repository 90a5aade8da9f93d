// Requests to the server that this page comes from, and to no other.

const KEY_NAME = "adit.key";
// Where the server lies, should a proxy show it under a longer path: the page is at BASE/ or BASE/ui.
const BASE = location.pathname.replace(/\/(ui\/?)?$/, "");

export class ApiError extends Error {
  constructor(status, message, code) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

function stored(area) {
  try {
    return area.getItem(KEY_NAME) || "";
  } catch {
    return "";
  }
}

let key = stored(sessionStorage) || stored(localStorage);

// `keep`: beyond the life of this tab.
export function setKey(value, keep) {
  key = value.trim();
  try {
    sessionStorage.setItem(KEY_NAME, key);
    if (keep) localStorage.setItem(KEY_NAME, key);
    else localStorage.removeItem(KEY_NAME);
  } catch {
    // A browser that keeps nothing: the key lives as long as the page.
  }
}

export function hasKey() {
  return key !== "";
}

async function ask(path, options = {}) {
  const headers = { ...(options.headers || {}) };
  if (key) headers.Authorization = `Bearer ${key}`;
  let response;
  try {
    response = await fetch(BASE + path, { ...options, headers, credentials: "same-origin", redirect: "error" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "The server cannot be reached.", "unreachable");
  }
  if (response.ok) return response;
  let told = {};
  try {
    told = (await response.json()).error || {};
  } catch {
    // No JSON: the status has to do.
  }
  throw new ApiError(response.status, told.message || `The server says ${response.status}.`, told.code);
}

export async function getJson(path) {
  return (await ask(path)).json();
}

export async function getText(path) {
  return (await ask(path)).text();
}

// The events of a streamed answer, one parsed object each.
export async function* stream(path, body, signal) {
  const response = await ask(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    held += value;
    let end;
    while ((end = held.indexOf("\n\n")) >= 0) {
      const event = held.slice(0, end);
      held = held.slice(end + 2);
      const data = event.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart()).join("\n");
      if (!data) continue;
      if (data === "[DONE]") return;
      const told = JSON.parse(data);
      if (told.error) throw new ApiError(200, told.error.message, told.error.code);
      yield told;
    }
  }
}
