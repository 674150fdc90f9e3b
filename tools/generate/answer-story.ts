// Calls a service's endpoints by name and keeps the responses.
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { EXAMPLE_BODIES } from "@postloft/contract/openapi/examples.ts";

/** Responses by endpoint name. */
export type Responses = Record<string, unknown>;

export type Body = Readonly<Record<string, unknown>>;

interface Asked {
  /** Path parameters. */
  params?: Readonly<Record<string, string>>;
  query?: string;
  /** Defaults to the example of the documentation. */
  body?: Body | FormData;
  /** An API key; defaults to the user's session. */
  key?: string;
}

const PATIENCE_TRIES = 200;
const POLL_MS = 50;

export type Story = ReturnType<typeof createStory>;

/** Creates a session that stores each response under its endpoint's name. */
export function createStory(url: string) {
  const responses: Responses = {};
  let cookie = "";
  let projectId = "";

  async function fetchResponse(name: string, { params = {}, query = "", body, key }: Asked) {
    const endpoint = ENDPOINTS.find((one) => one.name === name);
    if (endpoint === undefined) throw new Error(`There is no endpoint ${name}.`);
    const sent = body ?? EXAMPLE_BODIES[name];
    const path = endpoint.path.replaceAll(/:(\w+)/g, (_all, part: string) =>
      encodeURIComponent(params[part] ?? ""),
    );
    const response = await fetch(`${url}${path}${query}`, {
      method: endpoint.method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(cookie === "" || key !== undefined ? {} : { cookie }),
        ...(projectId === "" ? {} : { "x-project-id": projectId }),
        ...(sent === undefined || sent instanceof FormData ? {} : { "content-type": "application/json" }),
      },
      ...(sent === undefined ? {} : { body: sent instanceof FormData ? sent : JSON.stringify(sent) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${name} answered ${response.status}: ${text}`);
    cookie = response.headers.getSetCookie()[0]?.split(";")[0] ?? cookie;
    return text === "" ? null : (JSON.parse(text) as Body);
  }

  return {
    responses,
    speakFor(id: string) {
      projectId = id;
    },
    /** Calls an endpoint and stores its response. Returns the response without its envelope. */
    async ask<Response>(name: string, asked: Asked = {}): Promise<Response> {
      const answer = await fetchResponse(name, asked);
      responses[name] = answer;
      return (
        answer !== null && "success" in answer && "data" in answer ? answer["data"] : answer
      ) as Response;
    },
    /** Calls an endpoint until its response satisfies `isDone`. */
    async askUntil<Response>(
      name: string,
      asked: Asked,
      isDone: (answer: Response) => boolean,
    ): Promise<Response> {
      for (let tries = 0; tries < PATIENCE_TRIES; tries++) {
        const answer = await this.ask<Response>(name, asked);
        if (isDone(answer)) return answer;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
      throw new Error(`${name} did not become what it should.`);
    },
  };
}
