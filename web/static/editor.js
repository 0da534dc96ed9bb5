// The editor: saves by the API with the token, and puts the other version beside one's own where both have changed. After
// app.js, whose token and main it uses.
"use strict";

const mark = (hash) => '"' + hash + '"';
let clean = "";

function startEditor(editor) {
  if (editor.dataset.started) return;
  editor.dataset.started = "1";
  const text = $("text");
  clean = text.value;
  text.addEventListener("input", () => sayState(editor));
  editor.addEventListener("submit", (e) => {
    e.preventDefault();
    save(editor);
  });
  $("swap").addEventListener("click", () => {
    const mine = text.value;
    text.value = $("theirs").textContent;
    showTheirs(mine);
    text.dispatchEvent(new Event("input", { bubbles: true }));
    text.focus();
  });
  if (editor.dataset.line) toLine(+editor.dataset.line);
}

document.addEventListener("click", (e) => {
  const a = e.target.closest("a[data-line]");
  if (a && $("text")) {
    e.preventDefault();
    toLine(+a.dataset.line);
  }
});

function toLine(n) {
  const text = $("text"), lines = text.value.split("\n");
  const at = lines.slice(0, n - 1).join("\n").length + (n > 1 ? 1 : 0);
  text.focus();
  text.setSelectionRange(at, at + (lines[n - 1] || "").length);
  text.scrollTop = (text.scrollHeight * (n - 3)) / Math.max(1, lines.length);
}

window.addEventListener("beforeunload", (e) => {
  if ($("editor") && $("text").value !== clean) e.preventDefault();
});

function say(editor, what, bad) {
  const p = $("saved");
  p.textContent = what;
  p.classList.toggle("bad", !!bad);
}

const sayState = (editor) => say(editor, $("text").value === clean ? "" : editor.dataset.changed);

async function onDisk(editor) {
  const d = editor.dataset, r = await fetch("/v1/documents/" + d.docid, { headers: token.headers() }).catch(() => null);
  if (!r || d.busy) return;
  if (r.status === 404) {
    d.hash = ""; // saving makes it anew
    say(editor, d.removed, true);
  } else if (r.ok && (await r.json()).fileHash !== d.hash) say(editor, d.disk, true);
}

async function save(editor) {
  const d = editor.dataset, sent = $("text").value;
  if (d.busy) return; // the second save would conflict with the first
  const path = d.path || [$("folder").value.trim().replace(/^\/+|\/+$/g, ""), $("file").value.trim()].filter(Boolean).join("/");
  if (!path) return $("file").focus();
  d.busy = "1";
  say(editor, d.saving);
  try {
    const r = await put(path, sent, d);
    const answer = await r.json();
    if (r.ok) {
      clean = sent;
      Object.assign(d, { hash: answer.fileHash, docid: answer.docId, path, force: "" });
      $("conflict").hidden = true;
      $("save").textContent = d.save;
      say(editor, $("text").value === sent ? d.saved : d.changed);
      const url = "/docs/" + path.split("/").map(encodeURIComponent).join("/");
      $("view").href = url;
      $("view").hidden = false;
      for (const id of ["folder", "file"]) if ($(id)) $(id).readOnly = true;
      history.replaceState(null, "", url.replace("/docs/", "/edit/"));
    } else if (r.status === 412) await conflict(editor, path);
    else if (r.status === 409 && answer.record && !d.force) {
      d.force = "1";
      say(editor, d.twin.replace("%s", answer.record.source), true);
    } else if (r.status === 401) {
      say(editor, token.get() ? d.wrong : await told(answer), true);
      token.forget();
      useToken();
      $("token").focus();
    } else say(editor, answer.detail ? await told(answer) : r.statusText, true);
  } catch {
    say(editor, d.offline, true);
  }
  d.busy = "";
}

// told is an error of the API in the language of the page.
async function told(problem) {
  if (document.documentElement.lang === "en") return problem.detail;
  const r = await fetch("/told", { method: "POST", headers: { "HX-Request": "true" }, body: JSON.stringify({ detail: problem.detail, errors: problem.errors }) }).catch(() => null);
  return r && r.ok ? r.text() : problem.detail;
}

function put(path, body, d) {
  const headers = token.headers(d.hash ? { "If-Match": mark(d.hash) } : { "If-None-Match": "*" });
  const at = path.lastIndexOf("/"), query = d.force ? "?force=1" : "";
  if (at < 0) {
    const form = new FormData();
    form.append("file", new File([body], path, { type: "text/markdown" }));
    return fetch("/v1/documents" + query, { method: "POST", headers, body: form });
  }
  headers["Content-Type"] = "text/markdown";
  const url = "/v1/documents/" + encodeURIComponent(path.slice(0, at)) + "/" + encodeURIComponent(path.slice(at + 1));
  return fetch(url + query, { method: "PUT", headers, body });
}

// conflict puts the version on disk beside the one being edited. Saving again means having seen it.
async function conflict(editor, path) {
  const d = editor.dataset, base = d.docid ? "/v1/documents/" + d.docid : null;
  let id = base;
  if (!id) {
    const r = await fetch("/v1/documents/by-source?source=" + encodeURIComponent(path), { headers: token.headers() });
    if (r.ok) id = "/v1/documents/" + (d.docid = (await r.json()).docId);
  }
  const r = id && (await fetch(id + "/content?maxChars=100000000", { headers: token.headers() }));
  if (!r || r.status === 404) {
    d.hash = d.docid = "";
    return say(editor, d.removed, true);
  }
  const now = await r.json();
  d.hash = now.fileHash;
  showTheirs(now.content);
  $("conflict").hidden = false;
  $("save").textContent = d.over;
  say(editor, "", true);
  $("conflict").scrollIntoView({ block: "nearest" });
}

// showTheirs marks the lines that the text being edited does not have.
function showTheirs(content) {
  const mine = new Set($("text").value.split("\n")), pre = $("theirs");
  pre.replaceChildren();
  content.split("\n").forEach((line, i, all) => {
    const span = document.createElement(mine.has(line) || !line.trim() ? "span" : "mark");
    span.textContent = line + (i < all.length - 1 ? "\n" : "");
    pre.append(span);
  });
}
