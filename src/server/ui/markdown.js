// Markdown to elements of the page. Text of a model reaches the page as text nodes alone: no markup of its own is ever
// parsed as HTML, links lead to the web or to mail, and pictures are not loaded.

const MAX_DEPTH = 12;
const ESCAPABLE = "\\`*_{}[]()#+-.!~|<>\"'";

function element(name, ...children) {
  const made = document.createElement(name);
  made.append(...children);
  return made;
}

// The address if it is one to follow; else null.
export function safeAddress(text) {
  let url;
  try {
    url = new URL(text.trim());
  } catch {
    return null;
  }
  return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
}

function link(address, children) {
  const made = element("a", ...children);
  made.href = address;
  made.target = "_blank";
  made.rel = "noopener noreferrer nofollow";
  return made;
}

// Marks that open and close a span, the longest first.
const SPANS = [["**", "strong"], ["__", "strong"], ["~~", "del"], ["*", "em"], ["_", "em"]];
const isWord = (c) => c !== undefined && /[\p{L}\p{N}]/u.test(c);

// Where the span that `mark` opens at `at` closes; -1: nowhere.
function closing(text, at, mark) {
  const begin = at + mark.length;
  if (text[begin] === undefined || /\s/.test(text[begin])) return -1;
  if (mark[0] === "_" && isWord(text[at - 1])) return -1;
  for (let end = text.indexOf(mark, begin + 1); end >= 0; end = text.indexOf(mark, end + 1)) {
    if (/\s/.test(text[end - 1]) || text[end - 1] === "\\") continue;
    if (mark[0] === "_" && isWord(text[end + mark.length])) continue;
    if (mark.length === 1 && text[end + 1] === mark) { end += 1; continue; }
    return end;
  }
  return -1;
}

function inline(parent, text, depth = 0) {
  let plain = "";
  const flush = () => {
    if (plain) parent.append(plain);
    plain = "";
  };
  const add = (...children) => { flush(); parent.append(...children); };
  const nested = (name, inner) => {
    const made = element(name);
    inline(made, inner, depth + 1);
    return made;
  };
  // Marks that nothing closes from here on: not looked for again.
  const open = new Set();
  for (let at = 0; at < text.length;) {
    const c = text[at];
    if (c === "\\" && ESCAPABLE.includes(text[at + 1] || " ")) {
      plain += text[at + 1];
      at += 2;
      continue;
    }
    if (c === "\n") {
      add(element("br"));
      at += 1;
      continue;
    }
    if (c === "`") {
      const mark = /^`+/.exec(text.slice(at, at + 64))[0];
      const end = open.has(mark) ? -1 : text.indexOf(mark, at + mark.length);
      if (end > at) {
        const code = text.slice(at + mark.length, end);
        add(element("code", /^ .*\S.* $/.test(code) ? code.slice(1, -1) : code));
        at = end + mark.length;
        while (text[at] === "`") at += 1;
      } else {
        open.add(mark);
        plain += mark;
        at += mark.length;
      }
      continue;
    }
    if (depth < MAX_DEPTH) {
      const span = SPANS.find(([mark]) => text.startsWith(mark, at) && !open.has(mark));
      if (span) {
        const end = closing(text, at, span[0]);
        if (end > 0) {
          add(nested(span[1], text.slice(at + span[0].length, end)));
          at = end + span[0].length;
          continue;
        }
        if (text.indexOf(span[0], at + span[0].length) < 0) open.add(span[0]);
      }
      const found = c === "[" || c === "!" ? /^!?\[([^\]\n]{0,1000})\]\(\s*<?([^\s<>)]{1,2000})>?(?:\s+"[^"\n]{0,200}")?\s*\)/.exec(text.slice(at, at + 3300)) : null;
      if (found) {
        const address = safeAddress(found[2]);
        if (address) {
          const made = link(address, []);
          inline(made, found[1] || found[2], MAX_DEPTH);
          add(made);
        } else {
          inline(parent, (flush(), found[1] || ""), MAX_DEPTH);
        }
        at += found[0].length;
        continue;
      }
    }
    const bare = c === "h" || c === "<" ? /^(<?)(https?:\/\/[^\s<>"'`\\]{1,2000})/.exec(text.slice(at, at + 2100)) : null;
    if (bare && !isWord(text[at - 1])) {
      // What closes a sentence or a bracket is no part of an address.
      const shown = bare[1] ? bare[2] : bare[2].replace(/[.,;:!?)\]*_~]+$/, "");
      const address = safeAddress(shown);
      const ends = !bare[1] || text[at + bare[0].length] === ">";
      if (address && ends) {
        add(link(address, [shown]));
        at += bare[1] ? bare[0].length + 1 : shown.length;
        continue;
      }
    }
    plain += c;
    at += 1;
  }
  flush();
}

function codeBlock(language, text) {
  const copy = element("button", "Copy");
  copy.type = "button";
  copy.className = "quiet";
  copy.dataset.copy = "code";
  copy.setAttribute("aria-label", "Copy the code");
  const name = element("span", language);
  name.className = "hint grow";
  const row = element("div", name, copy);
  row.className = "row";
  const pre = element("pre", element("code", text));
  pre.tabIndex = 0;
  const made = element("div", row, pre);
  made.className = "code";
  return made;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\n]*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(?:\s+(.*)|)$/;
const TABLE_LINE = /^\s*\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?$/;

const cells = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replace(/\\\|/g, "|"));

function table(lines) {
  const row = (line, name) => element("tr", ...cells(line).map((cell) => {
    const made = element(name);
    inline(made, cell);
    return made;
  }));
  return element("table", element("thead", row(lines[0], "th")), element("tbody", ...lines.slice(2).map((line) => row(line, "td"))));
}

// The lines of a list from `at` on, and the list made of them.
function list(lines, at, depth) {
  const first = ITEM.exec(lines[at]);
  const ordered = /\d/.test(first[2]);
  const made = element(ordered ? "ol" : "ul");
  if (ordered && parseInt(first[2], 10) !== 1) made.start = parseInt(first[2], 10);
  const indent = first[1].length;
  while (at < lines.length) {
    const item = ITEM.exec(lines[at]);
    if (!item || item[1].length > indent + 1 || item[1].length < indent || /\d/.test(item[2]) !== ordered) break;
    const inner = [item[3] || ""];
    const width = item[1].length + item[2].length + 1;
    at += 1;
    while (at < lines.length) {
      const blank = lines[at].trim() === "";
      const next = blank ? lines[at + 1] : lines[at];
      if (next === undefined || (blank && next.trim() === "")) break;
      const deeper = next.length - next.trimStart().length > indent + 1;
      if (!deeper && (blank || ITEM.test(next) || FENCE.test(next) || HEADING.test(next) || RULE.test(next))) break;
      inner.push(lines[at].slice(Math.min(width, lines[at].length - lines[at].trimStart().length)));
      at += 1;
    }
    const child = element("li");
    blocks(child, inner, depth + 1, true);
    made.append(child);
    if (at < lines.length && lines[at].trim() === "" && ITEM.test(lines[at + 1] || "")) at += 1;
  }
  return { made, at };
}

function blocks(parent, lines, depth, tight = false) {
  let paragraph = [];
  const end = () => {
    if (paragraph.length === 0) return;
    const target = tight ? parent : element("p");
    inline(target, paragraph.join("\n").trim());
    if (!tight) parent.append(target);
    paragraph = [];
  };
  for (let at = 0; at < lines.length;) {
    const line = lines[at];
    const fence = FENCE.exec(line);
    if (fence) {
      end();
      const code = [];
      const close = new RegExp(`^ {0,3}${fence[1][0]}{${fence[1].length},}\\s*$`);
      for (at += 1; at < lines.length && !close.test(lines[at]); at += 1) code.push(lines[at]);
      parent.append(codeBlock(fence[2].trim().slice(0, 40), code.join("\n")));
      at += 1;
    } else if (line.trim() === "") {
      end();
      at += 1;
    } else if (HEADING.test(line)) {
      end();
      const heading = HEADING.exec(line);
      const made = element(`h${Math.min(6, heading[1].length + 2)}`);
      inline(made, heading[2]);
      parent.append(made);
      at += 1;
    } else if (RULE.test(line)) {
      end();
      parent.append(element("hr"));
      at += 1;
    } else if (/^ {0,3}>/.test(line) && depth < MAX_DEPTH) {
      end();
      const quoted = [];
      for (; at < lines.length && /^ {0,3}>/.test(lines[at]); at += 1) quoted.push(lines[at].replace(/^ {0,3}> ?/, ""));
      const made = element("blockquote");
      blocks(made, quoted, depth + 1);
      parent.append(made);
    } else if (ITEM.test(line) && depth < MAX_DEPTH && (paragraph.length === 0 || !/^\s*\d/.test(line))) {
      end();
      const done = list(lines, at, depth);
      parent.append(done.made);
      at = done.at;
    } else if (line.includes("|") && TABLE_LINE.test(lines[at + 1] || "")) {
      end();
      const rows = [line, lines[at + 1]];
      for (at += 2; at < lines.length && lines[at].includes("|"); at += 1) rows.push(lines[at]);
      parent.append(table(rows));
    } else {
      paragraph.push(line);
      at += 1;
    }
  }
  end();
}

// A fragment of the page for a text.
export function render(text) {
  const fragment = document.createDocumentFragment();
  blocks(fragment, text.replace(/\r\n?/g, "\n").split("\n"), 0);
  return fragment;
}
