// What the pages do beyond htmx: remember the token, keep the address, move by keys, follow changes. editor.js edits.
"use strict";

const $ = (id) => document.getElementById(id);
const main = $("main"), q = $("q");

// ---- token: typed by a person, kept in this tab alone, sent as a header
const token = {
  get: () => sessionStorage.getItem("token"),
  set: (t) => sessionStorage.setItem("token", t),
  forget: () => sessionStorage.removeItem("token"),
  headers: (h = {}) => (token.get() ? { ...h, Authorization: "Bearer " + token.get() } : h),
};

document.addEventListener("htmx:configRequest", (e) => {
  Object.assign(e.detail.headers, token.headers());
  const from = e.detail.triggeringEvent;
  if (e.detail.elt.id === "search" && from && from.type === "input") e.detail.parameters.typing = "1";
});

document.addEventListener("submit", (e) => {
  if (!e.target.matches("[data-token]")) return;
  e.preventDefault();
  const field = e.target.querySelector("input");
  token.set(field.value.trim());
  field.value = "";
  if ($("editor")) sayState($("editor")); // what was said of the token before is not of this one
  useToken();
});

document.addEventListener("click", (e) => {
  if (e.target.matches("[data-forget]")) {
    token.forget();
    location.reload();
  }
});

// useToken asks again for what was refused.
function useToken() {
  if (main.querySelector("[data-needs-token]")) show(location.href);
  withToken();
  follow();
}

// withToken asks for what needs the token, and hides the field for it.
function withToken() {
  if ($("asked") && token.get()) htmx.trigger(document.body, "token");
  if ($("token-box")) {
    $("token-box").hidden = !!token.get();
    $("token-forget").hidden = !token.get();
  }
}

function show(url) {
  return htmx.ajax("GET", url, { target: "#main", swap: "innerHTML" });
}

// ---- search: the address follows what is typed; a query that was looked at is recorded once
let settled = true, settle, live;

// An input method's letters are not a query yet; what it makes of them is.
document.addEventListener("input", (e) => e.target === q && e.isComposing && e.stopImmediatePropagation(), true);
q.addEventListener("compositionend", () => q.dispatchEvent(new Event("input", { bubbles: true })));

function answered() {
  return main.querySelector(".answer");
}

function addressOf(query) {
  return query.trim() ? "/?q=" + encodeURIComponent(query.trim()) : "/";
}

function record() {
  clearTimeout(settle);
  const a = answered();
  if (settled || !a) return;
  settled = true;
  const p = new URLSearchParams({ q: a.dataset.query, section: a.dataset.section, category: a.dataset.category });
  fetch("/asked?" + p, { method: "POST", keepalive: true, headers: token.headers({ "HX-Request": "true" }) }).catch(() => {});
}

document.addEventListener("htmx:afterSwap", (e) => {
  if (e.detail.target !== main) return;
  document.body.dataset.page = answered() || main.querySelector(".start") ? "search" : document.body.dataset.page;
  $("said").textContent = $("verdict") ? $("verdict").textContent : "";
  const from = e.detail.requestConfig.triggeringEvent;
  if (!from || e.detail.requestConfig.elt.id !== "search") {
    toHash();
    return;
  }
  const to = addressOf(q.value);
  if (to !== location.pathname + location.search) history[settled ? "pushState" : "replaceState"](null, "", to);
  clearTimeout(settle);
  settled = from.type === "submit"; // which the server has recorded
  if (!settled) settle = setTimeout(record, 1500);
  window.scrollTo(0, 0);
});

window.addEventListener("popstate", () => {
  record();
  settled = true;
  q.value = new URLSearchParams(location.search).get("q") || "";
  show(location.href);
});

document.addEventListener("click", (e) => e.target.closest("main a") && record());
window.addEventListener("pagehide", record);

function toHash() {
  const at = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (at) at.scrollIntoView();
}

// ---- keys
document.addEventListener("keydown", (e) => {
  if (e.isComposing || e.ctrlKey || e.metaKey || e.altKey) {
    if ((e.ctrlKey || e.metaKey) && e.key === "s" && $("editor")) {
      e.preventDefault();
      $("editor").requestSubmit();
    }
    return;
  }
  const typing = e.target.matches("input, textarea, select");
  if (e.key === "/" && !typing) {
    e.preventDefault();
    q.focus();
    q.select();
    return;
  }
  const hits = [...main.querySelectorAll("a.go")], at = hits.indexOf(document.activeElement);
  switch (e.key) {
    case "ArrowDown":
    case "ArrowUp": {
      if (typing && e.target !== q || !hits.length) return;
      if (e.target !== q && at < 0) return;
      e.preventDefault();
      const to = at + (e.key === "ArrowDown" ? 1 : -1);
      if (to < 0) q.focus();
      else if (to < hits.length) hits[to].focus();
      break;
    }
    case "Escape":
      if (e.target === q) {
        if (q.value) {
          q.value = "";
          q.dispatchEvent(new Event("input", { bubbles: true }));
        }
      } else if (at >= 0) q.focus();
      e.target === q && e.preventDefault();
  }
});

// ---- changes: the daemon's events; the stream is closed while nobody looks
let following;

async function follow(again) {
  if (document.hidden || following) return;
  following = new AbortController();
  const mine = following;
  try {
    const r = await fetch("/v1/events", { headers: token.headers(), signal: mine.signal });
    if (!r.ok) { // without the token, for one: useToken follows again
      if (following === mine) following = null;
      return;
    }
    if (again) catchUp(); // on what was missed meanwhile
    document.documentElement.dataset.live = "1";
    const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const b of blocks) {
        const data = b.split("\n").find((l) => l.startsWith("data: "));
        if (data) happened(JSON.parse(data.slice(6)));
      }
    }
  } catch {
    // the daemon has gone, or this page is being left
  }
  if (following === mine) {
    following = null;
    setTimeout(() => follow(true), 2000);
  }
}

function rest() {
  const f = following;
  following = null;
  if (f) f.abort();
}

// A browser opens six connections to a daemon in all: tabs in the background, and pages kept for going back, must not hold
// them.
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return rest();
  follow();
  catchUp();
});
window.addEventListener("pagehide", rest);
window.addEventListener("pageshow", (e) => e.persisted && (follow(), catchUp()));

function catchUp() {
  const editor = $("editor");
  happened({ type: "index" });
  recheck(false);
  if (editor && editor.dataset.docid) onDisk(editor);
}

function happened(e) {
  const doc = main.querySelector(".document"), editor = $("editor");
  if (e.type === "lagged") return catchUp();
  if (e.type === "document" && doc && doc.dataset.source === e.source) recheck(true);
  if (e.type === "document" && editor && editor.dataset.docid && editor.dataset.docid === e.docId) onDisk(editor);
  if (e.type === "index" || e.type === "l1") {
    clearTimeout(live);
    live = setTimeout(() => {
      htmx.trigger(document.body, "live");
      // What is being read may have changed. The question is not asked anew: it leaves no trace.
      if (answered() && !main.querySelector(".why") && !document.activeElement.closest("main")) {
        const a = answered().dataset.query;
        if (a === q.value.trim()) show(location.pathname + location.search + "&typing=1");
      }
    }, 300);
  }
}

// recheck looks what has become of the document being read: an event is a hint, and the next one may be on its way. One
// look follows the other, so that the last word is that of the last event.
let checked = Promise.resolve();

function recheck(changed) {
  checked = checked.then(async () => {
    const doc = main.querySelector(".document");
    if (!doc) return;
    const { source, hash, gone, changed: now } = doc.dataset;
    const r = await fetch("/v1/documents/by-source?source=" + encodeURIComponent(source), { headers: token.headers() });
    if (r.status === 404) return notice(gone);
    if (!r.ok || (!changed && (await r.json()).fileHash === hash)) return;
    const at = window.scrollY;
    await show(location.pathname + location.search);
    window.scrollTo(0, at);
    notice(main.querySelector(".document") ? now : gone);
  }).catch(() => {}); // the daemon has gone, or this page is being left
}

// notice has one thing to say at a time: an older one would cover it.
function notice(text) {
  $("said").textContent = text;
  for (const old of main.querySelectorAll(".notice")) old.remove();
  const p = document.createElement("p");
  p.className = "notice";
  p.textContent = text;
  main.prepend(p);
  setTimeout(() => p.remove(), 6000);
}

// ---- start, and again for a page that came with the token
function start() {
  if ($("editor")) startEditor($("editor"));
  withToken();
}
document.addEventListener("htmx:afterSettle", (e) => e.detail.target === main && start());
document.addEventListener("DOMContentLoaded", () => { // after htmx, which looks at the page then
  start();
  if (token.get() && main.querySelector("[data-needs-token]")) show(location.href);
  if (document.activeElement === q) q.setSelectionRange(q.value.length, q.value.length); // go on typing
  follow();
});
