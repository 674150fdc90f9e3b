// The page /mailbox: signs in, lists messages, polls for new ones, and opens them.
import { findSources, keepKey, leave, logIn, readProvider, Refused } from "./mailbox-calls.js";
import { element, showMessage, shownTime } from "./mailbox-message.js";

const LOOK_MS = 3_000;
const LOOK_AGAIN_MS = 15_000;
const TYPING_MS = 250;
const UNAUTHORIZED = 401;

const find = (id) => document.querySelector(`#${id}`);
const search = document.querySelector("#search input");

/** The displayed state. `round` identifies outdated responses; each new selection starts a new one. */
const state = {
  sources: [],
  source: null,
  items: [],
  cursor: null,
  total: 0,
  round: 0,
  provider: "",
  open: null,
};

function showEntrance(fault = "") {
  state.round++;
  state.source = null;
  for (const id of ["mailbox", "source", "live", "empty", "leave"]) find(id).hidden = true;
  document.body.classList.remove("reading");
  find("fault").textContent = fault;
  find("entrance").hidden = false;
}

async function enter() {
  try {
    const [sources, provider] = await Promise.all([findSources(), readProvider()]);
    if (sources === null) return showEntrance();
    if (sources.length === 0) return showEntrance("This account has no project yet. Create one first.");
    Object.assign(state, { sources, provider });
  } catch (error) {
    return showEntrance(error.message);
  }
  find("entrance").hidden = true;
  for (const id of ["mailbox", "live", "leave"]) find(id).hidden = false;
  find("source").replaceChildren(
    ...state.sources.map(({ name }, at) => element("option", { value: String(at) }, name)),
  );
  find("source").hidden = state.sources.length < 2;
  await choose(0);
}

async function choose(at) {
  state.source = state.sources[at];
  find("empty").hidden = state.source.empty === null;
  close();
  await startAnew();
}

/** Loads the newest messages for the current search. */
async function startAnew() {
  const round = ++state.round;
  Object.assign(state, { items: [], cursor: null, total: 0 });
  await look(round);
  showChosen();
}

/** Polls for new messages while this list is shown. */
async function look(round) {
  let waitMs = LOOK_MS;
  try {
    if (!document.hidden) await readNewest(round);
  } catch (error) {
    if (round !== state.round) return;
    if (error instanceof Refused && error.status === UNAUTHORIZED) return showEntrance(error.message);
    waitMs = LOOK_AGAIN_MS;
    showLive(error.message);
  }
  if (round === state.round) setTimeout(() => round === state.round && look(round), waitMs);
}

async function readNewest(round) {
  const page = await state.source.list({ search: search.value.trim() });
  if (round !== state.round) return;
  const last = page.data.at(-1)?.id;
  const isShown = state.items.some(({ id }) => id === last);
  // Ids increase with time, so messages below this page are loaded already, unless so many arrived that there is a gap.
  const older = page.hasMore && isShown ? state.items.filter(({ id }) => id < last) : [];
  if (older.length === 0) state.cursor = page.cursor;
  Object.assign(state, { items: [...page.data, ...older], total: page.total });
  showLive();
  showList();
}

async function readOlder() {
  const { round } = state;
  const page = await state.source.list({ search: search.value.trim(), cursor: state.cursor });
  if (round !== state.round) return;
  Object.assign(state, { items: [...state.items, ...page.data], cursor: page.cursor });
  showList();
}

function showLive(fault = "") {
  const live = find("live");
  live.classList.toggle("off", fault !== "");
  if (live.textContent !== (fault === "" ? "live" : "offline"))
    live.textContent = fault === "" ? "live" : "offline";
  live.title = fault;
}

function showList() {
  const { items, total, cursor } = state;
  const list = find("list");
  const shown = items.map(({ id, to, subject, receivedAt }) => `${id}${to}${subject}${receivedAt}`).join();
  find("count").textContent = total === 1 ? "1 message" : `${total} messages`;
  // Redraws nothing without changes, so that elements don't move under the pointer.
  if (list.dataset.shown === shown + cursor) return;
  list.dataset.shown = shown + cursor;
  const rows = items.map((item) =>
    element(
      "li",
      {},
      element(
        "a",
        { href: `#${item.id}` },
        element("span", { className: "to" }, item.to),
        element(
          "time",
          { dateTime: item.receivedAt, title: shownTime(item.receivedAt) },
          shortTime(item.receivedAt),
        ),
        element("span", { className: "subject" }, item.subject || "(no subject)"),
      ),
    ),
  );
  const more = element("button", {
    id: "more",
    type: "button",
    textContent: "Older messages",
    hidden: cursor === null,
    onclick: () => readOlder().catch((error) => showLive(error.message)),
  });
  list.replaceChildren(
    ...rows,
    ...(items.length === 0 ? [element("li", { className: "empty" }, emptyText())] : []),
    more,
  );
  markChosen();
}

function emptyText() {
  if (search.value.trim() !== "") return "No results";
  return state.provider === "mailbox"
    ? "No emails yet. Send one, and it appears here automatically."
    : `No emails here, because they are sent with ${state.provider}.`;
}

function shortTime(instant) {
  const date = new Date(instant);
  const isToday = date.toDateString() === new Date().toDateString();
  return new Intl.DateTimeFormat(
    undefined,
    isToday ? { timeStyle: "short" } : { day: "numeric", month: "short" },
  ).format(date);
}

function markChosen() {
  for (const link of find("list").querySelectorAll("a")) {
    if (link.hash === location.hash) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
}

function close() {
  if (location.hash !== "") history.replaceState(null, "", location.pathname);
  showChosen();
}

/** Opens the message named in the URL fragment, so that the back button of a phone returns to the list. */
async function showChosen() {
  const id = location.hash.slice(1);
  const place = find("message");
  document.body.classList.toggle("reading", id !== "" && state.source !== null);
  markChosen();
  if (state.source === null || id === state.open) return;
  state.open = id;
  if (id === "") return place.replaceChildren(element("p", { className: "empty" }, "Select a message"));
  const fault = (error) =>
    place.replaceChildren(
      element(
        "div",
        { className: "empty" },
        element("p", {}, error.message),
        element("button", { type: "button", textContent: "Back to the list", onclick: close }),
      ),
    );
  const { source } = state;
  try {
    const message = await source.read({ id });
    if (state.open === id && state.source === source)
      showMessage(place, source, message, { onBack: close, onFault: fault });
  } catch (error) {
    if (state.open === id) fault(error);
  }
}

function submitted(id, work) {
  find(id).addEventListener("submit", async (event) => {
    event.preventDefault();
    const form = event.target;
    find("fault").textContent = "";
    try {
      await work(new FormData(form));
      form.reset();
      await enter();
    } catch (error) {
      showEntrance(error.message);
    }
  });
}

function listen() {
  submitted("by-key", async (form) => keepKey(form.get("key").trim()));
  submitted("by-login", (form) => logIn(form.get("email"), form.get("password")));
  find("source").addEventListener("change", ({ target }) => choose(Number(target.value)));
  find("leave").addEventListener("click", () =>
    leave().then(
      () => showEntrance(),
      (error) => showEntrance(error.message),
    ),
  );
  find("empty").addEventListener("click", async () => {
    if (!window.confirm("Delete all messages of this mailbox?")) return;
    await state.source.empty().catch((error) => showLive(error.message));
    close();
    await startAnew();
  });
  const typing = { timer: 0 };
  search.addEventListener("input", () => {
    clearTimeout(typing.timer);
    typing.timer = setTimeout(startAnew, TYPING_MS);
  });
  window.addEventListener("hashchange", showChosen);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && state.source !== null) look(++state.round);
  });
}

listen();
await enter();
