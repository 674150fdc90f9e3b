// A minimal API client that returns status and JSON, or a whole list page by page.
import { SECRET_KEY } from "./program.ts";

export interface Reply<Body> {
  status: number;
  headers: Headers;
  /** Parsed JSON of the type the caller names, or text if the response is no JSON. */
  body: Body;
}

export interface ApiClient {
  call<Body>(method: string, path: string, body?: unknown): Promise<Reply<Body>>;
  /** Returns the body. @throws Error for every status but 2xx. */
  get<Body>(path: string): Promise<Body>;
  /** Returns the body. @throws Error for every status but 2xx. */
  post<Body>(path: string, body: unknown): Promise<Body>;
  /** Returns every item of a cursor list. */
  listAll<Item>(path: string): Promise<Item[]>;
}

/** Responses of `POST /v1/send` and `POST /v1/track`, and the items of the lists that tests read. */
export interface Sent {
  data: { emails: Array<{ contact: { id: string; email: string }; email: string }>; timestamp: string };
}
export interface Tracked {
  data: { contact: string; event: string; timestamp: string };
}
export interface EmailItem {
  id: string;
  status: string;
  to: string;
  attempts: number;
}
export interface MessageItem {
  id: string;
  emailId: string;
  from: string;
  to: string;
  subject: string;
}

const REQUEST_TIMEOUT_MS = 30_000;
const PAGE_SIZE = 100;
const MAX_PAGES = 1_000;

/** Creates a client that sends `headers` with every request. Defaults to the secret key of the first project. */
export function createApiClient(
  url: string,
  headers: Readonly<Record<string, string>> = { authorization: `Bearer ${SECRET_KEY}` },
): ApiClient {
  async function call<Body>(method: string, path: string, body?: unknown): Promise<Reply<Body>> {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    return {
      status: response.status,
      headers: response.headers,
      body: (isJson ? JSON.parse(text) : text) as Body,
    };
  }

  async function succeed<Body>(method: string, path: string, body?: unknown): Promise<Body> {
    const reply = await call<Body>(method, path, body);
    if (reply.status < 200 || reply.status > 299)
      throw new Error(`${method} ${path} answered ${reply.status}: ${JSON.stringify(reply.body)}`);
    return reply.body;
  }

  return {
    call,
    get: (path) => succeed("GET", path),
    post: (path, body) => succeed("POST", path, body),
    async listAll<Item>(path: string) {
      const items: Item[] = [];
      const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
      for (let page = 0; page < MAX_PAGES; page++) {
        const { data, cursor } = await succeed<{ data: Item[]; cursor: string | null }>(
          "GET",
          `${path}${path.includes("?") ? "&" : "?"}${query}`,
        );
        items.push(...data);
        if (cursor === null) return items;
        query.set("cursor", cursor);
      }
      throw new Error(`${path} has more than ${MAX_PAGES} pages`);
    },
  };
}
