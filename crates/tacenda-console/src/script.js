// The one script of the console: hands the token over, drops files, moves sliders, asks how jobs are going.

const find = (selector, from = document) => [...from.querySelectorAll(selector)];
const gone = document.getElementById("gone");

// The token stands in the fragment, which no browser sends. It is exchanged for a cookie, once.
const token = new URLSearchParams(location.hash.slice(1)).get("t");
const opening = document.getElementById("opening");
if (location.pathname === "/" && opening) {
  history.replaceState(null, "", "/");
  const answer = token && (await fetch("/session", { method: "POST", body: token }));
  if (answer && answer.ok) location.replace("/series");
  else opening.textContent = answer ? await answer.text() : "Open the link that tacenda serve printed; each link works once.";
}

// A server that is gone says so on every page that asks it something.
async function ask(address, options) {
  try {
    const answer = await fetch(address, options);
    if (answer.status === 401) location.reload();
    return answer;
  } catch (error) {
    if (gone) gone.hidden = false;
    throw error;
  }
}

// Files: dropped on a zone, or chosen in it, one after another.
async function send(zone, files) {
  const said = zone.querySelector("[data-said]");
  for (const file of files) {
    said.textContent = file.name + " …";
    const answer = await ask("/drop/" + zone.dataset.drop, {
      method: "POST",
      body: file,
      headers: { "x-name": encodeURIComponent(file.name) },
    });
    if (!answer.ok) {
      said.textContent = await answer.text();
      return;
    }
  }
  location.reload();
}
for (const zone of find("[data-drop]")) {
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    send(zone, event.dataTransfer.files);
  });
  zone.querySelector("input[type=file]").addEventListener("change", (event) => send(zone, event.target.files));
}
// A file that is dropped beside a zone must not open in its place.
for (const name of ["dragover", "drop"]) window.addEventListener(name, (event) => event.preventDefault());

// What scrolls can be reached with the keyboard.
const reachable = () => find(".scroll").forEach((box) => box.scrollWidth > box.clientWidth && (box.tabIndex = 0));
reachable();
window.addEventListener("resize", reachable);

// A form that is answered while it is filled in. Only the last answer counts.
for (const form of find("form[data-live]")) {
  const into = document.getElementById(form.dataset.into);
  let wait, latest;
  const again = async () => {
    const mine = (latest = new AbortController());
    into.setAttribute("aria-busy", "true");
    try {
      const body = new URLSearchParams(new FormData(form));
      const answer = await ask(form.dataset.live, { method: "POST", body, signal: mine.signal });
      const text = await answer.text();
      if (mine === latest) into.innerHTML = text;
      reachable();
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    } finally {
      if (mine === latest) into.removeAttribute("aria-busy");
    }
  };
  form.addEventListener("input", (event) => {
    const shown = document.getElementById(event.target.dataset.shows);
    if (shown) shown.textContent = event.target.value;
    clearTimeout(wait);
    wait = setTimeout(() => {
      if (latest) latest.abort();
      if (gone) gone.hidden = true;
      again();
    }, 60);
  });
}

// A job is asked after until it has ended; then the page shows what came of it.
for (const box of find("[data-job]")) {
  const look = async () => {
    const answer = await ask("/job/" + box.dataset.job, { headers: { "x-only-looking": "1" } });
    if (answer.status === 204) return location.reload();
    if (answer.ok) box.innerHTML = await answer.text();
    setTimeout(look, 400);
  };
  setTimeout(look, 200);
}

// Values of a tree are dragged onto groups; the fields beside them are what is sent.
const groups = document.querySelector("[data-groups]");
if (groups) {
  const targets = groups.querySelector(".targets");
  const byHand = document.querySelector("input[name=rule][value=groups]");
  const put = (value, group) => {
    const field = find("input[name]").find((input) => input.name === "group:" + value);
    if (field) field.value = group;
    byHand.checked = true;
  };
  const target = (name) => {
    const item = document.createElement("li");
    item.textContent = name;
    item.addEventListener("dragover", (event) => event.preventDefault());
    item.addEventListener("drop", (event) => {
      event.preventDefault();
      put(event.dataTransfer.getData("text/plain"), name);
    });
    targets.append(item);
  };
  const field = groups.querySelector("[data-new-group]");
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (field.value.trim()) target(field.value.trim());
    field.value = "";
  });
  for (const leaf of find("[data-value]")) {
    leaf.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/plain", leaf.dataset.value));
  }
}
