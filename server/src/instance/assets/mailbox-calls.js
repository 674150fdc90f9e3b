// Server calls of the page /mailbox: readable mailboxes, lists, messages and attachments.

const KEY = "postloft.mailbox.key";
const PAGE_SIZE = 50;

/** A response that is not 2xx. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function call(path, headers = {}, options = {}) {
  const response = await fetch(path, { ...options, headers: { ...headers, ...options.headers } });
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw new Refused(response.status, body.message ?? `The server responded with ${response.status}.`);
}

const callJson = async (path, headers) => (await call(path, headers)).json();

/** The key is kept only for this tab and sent with each call. */
export function keepKey(key) {
  sessionStorage.setItem(KEY, key);
}

export async function logIn(email, password) {
  const headers = { "content-type": "application/json" };
  await call("/auth/login", headers, { method: "POST", body: JSON.stringify({ email, password }) });
}

/** Deletes the key, or ends the session. */
export async function leave() {
  if (sessionStorage.getItem(KEY) === null) await call("/auth/logout");
  sessionStorage.removeItem(KEY);
}

/** Returns the transport; `mailbox` keeps email on this machine. */
export async function readProvider() {
  return (await callJson("/config")).features.email.provider;
}

/**
 * Returns the mailboxes the visitor may read: of projects, or platform email. Null if the visitor is not signed in.
 * @throws Refused for an invalid key
 */
export async function findSources() {
  const key = sessionStorage.getItem(KEY);
  if (key !== null) return sourcesOfKey(key);
  const projects = await callJson("/users/@me/projects").catch((error) => {
    if (error instanceof Refused && error.status === 401) return null;
    throw error;
  });
  if (projects === null) return null;
  const sources = projects.map(({ id, name }) => projectSource(name, { "x-project-id": id }));
  const own = systemSource({});
  const isOperator = await own.list({ limit: 1 }).then(
    () => true,
    () => false,
  );
  return isOperator ? [...sources, own] : sources;
}

async function sourcesOfKey(key) {
  const headers = { authorization: `Bearer ${key}` };
  const source = key.startsWith("op_") ? systemSource(headers) : projectSource("This project", headers);
  try {
    await source.list({ limit: 1 });
  } catch (error) {
    if (error instanceof Refused && error.status === 401) sessionStorage.removeItem(KEY);
    throw error;
  }
  return [source];
}

const query = (values) =>
  new URLSearchParams(
    Object.entries({ limit: PAGE_SIZE, ...values }).filter(
      ([, value]) => value !== undefined && value !== "",
    ),
  );

const path = (id) => `/mailbox/messages/${encodeURIComponent(id)}`;

/** Email of a project, by its key or by a session. */
function projectSource(name, headers) {
  return {
    name,
    list: (values) => callJson(`/mailbox/messages?${query(values)}`, headers),
    read: ({ id }) => callJson(path(id), headers),
    readSource: async (id) => (await call(`${path(id)}/raw`, headers)).blob(),
    readAttachment: async (id, position) =>
      (await call(`${path(id)}/attachments/${position}`, headers)).blob(),
    empty: () => call("/mailbox/messages", headers, { method: "DELETE" }),
  };
}

/** Platform email, in a list that already includes the texts. */
function systemSource(headers) {
  const known = new Map();
  return {
    name: "Platform email",
    async list(values) {
      const page = await callJson(`/mailbox/system?${query(values)}`, headers);
      const data = page.data.map((mail) => ({ ...mail, from: null, receivedAt: mail.sentAt }));
      for (const mail of data) known.set(mail.id, mail);
      return { ...page, data };
    },
    async read({ id }) {
      const mail = known.get(id);
      if (mail === undefined) throw new Refused(404, "This email is not in the list. Search for it there.");
      return { ...mail, headers: null, attachments: [] };
    },
    empty: null,
  };
}
