// Calls `/v1/track` and `/v1/send` at a constant rate while a case breaks something. Keeps each response and compares them with the
// database.
import { setTimeout as delay } from "node:timers/promises";
import type { Reply, Sent, Tracked } from "../api-client.ts";
import { complain } from "./evidence.ts";
import { DOMAIN, type Environment } from "./environment.ts";

export interface ApiLoad {
  /** The number of accepted calls so far. */
  acceptedCount(): number;
  /** Stops calling and waits for the last responses. */
  stop(): Promise<readonly Call[]>;
}

export interface Call {
  door: "track" | "send";
  /** Milliseconds since 1970. */
  at: number;
  tookMs: number;
  /** 0 if no response came. */
  status: number;
  /** The id of the accepted email or event. */
  id: string | undefined;
  /** The error message. */
  refusal: string;
}

/** The API promises a response within 5 s if the database is away; a busy machine may take slightly longer. */
const RESPONSE_MS = 6_000;

/** Calls each endpoint at this rate, at the last started program with HTTP. */
export function startApiLoad(environment: Environment, perSecond: { track: number; send: number }): ApiLoad {
  const api = environment.api();
  const calls: Call[] = [];
  const open = new Set<Promise<void>>();
  const ending = new AbortController();
  let number = 0;

  async function call(door: Call["door"]): Promise<void> {
    const email = `caller${number++}@example.org`;
    const at = Date.now();
    const startedMs = performance.now();
    const made = { door, at, id: undefined, status: 0, refusal: "" };
    try {
      const reply =
        door === "track"
          ? await api.call<Tracked>("POST", "/v1/track", { email, event: "seen" })
          : await api.call<Sent>("POST", "/v1/send", {
              to: email,
              from: `us@${DOMAIN}`,
              subject: "Hello",
              body: "<p>Hi</p>",
            });
      calls.push({ ...made, ...readReply(reply), tookMs: performance.now() - startedMs });
    } catch (error) {
      const refusal =
        error instanceof Error ? `${error.message} ${String(error.cause ?? "")}` : String(error);
      calls.push({ ...made, refusal, tookMs: performance.now() - startedMs });
    }
  }

  async function knock(endpoint: Call["door"], rate: number): Promise<void> {
    if (rate === 0) return;
    for (let nextMs = performance.now(); !ending.signal.aborted; nextMs += 1000 / rate) {
      await delay(Math.max(0, nextMs - performance.now()));
      const one = call(endpoint).finally(() => open.delete(one));
      open.add(one);
    }
  }

  const knocking = [knock("track", perSecond.track), knock("send", perSecond.send)];
  return {
    acceptedCount: () => calls.filter(({ id }) => id !== undefined).length,
    async stop() {
      ending.abort();
      await Promise.all(knocking);
      await Promise.all(open);
      return calls;
    },
  };
}

function readReply({ status, body }: Reply<Sent | Tracked>): Pick<Call, "status" | "id" | "refusal"> {
  const data = (body as Partial<Sent & Tracked>)?.data;
  if (status === 200) return { status, id: data?.emails?.[0]?.email ?? data?.event, refusal: "" };
  const code = (body as { error?: { code?: string } })?.error?.code;
  return {
    status,
    id: undefined,
    refusal: code ?? `no error envelope: ${JSON.stringify(body).slice(0, 200)}`,
  };
}

/** Returns what was wrong: each 2xx must be in the database, each other response a 503 with the error envelope, and none late. */
export async function checkCalls(environment: Environment, calls: readonly Call[]): Promise<string[]> {
  const idsOf = (endpoint: Call["door"]) =>
    calls.flatMap((call) => (call.door === endpoint && call.id !== undefined ? [call.id] : []));
  const found = async (table: "events" | "emails", ids: readonly string[]) => {
    const rows = await environment.query<{ id: string }>(
      `select id from ${table} where id = any($1::uuid[])`,
      [ids],
    );
    return new Set(rows.map(({ id }) => id));
  };
  const events = await found("events", idsOf("track"));
  const emails = await found("emails", idsOf("send"));
  const describe = ({ door, status, refusal, tookMs }: Call) =>
    `${door} ${status} ${refusal} after ${Math.round(tookMs)} ms`;
  return [
    ...complain(
      [...idsOf("track").filter((id) => !events.has(id)), ...idsOf("send").filter((id) => !emails.has(id))],
      "accepted calls are not in the database",
    ),
    ...complain(
      calls
        .filter(
          ({ status, id, refusal }) => !(status === 200 ? id !== undefined : isUnavailable(status, refusal)),
        )
        .map(describe),
      "calls returned neither 200 nor 503",
    ),
    ...complain(calls.filter(({ tookMs }) => tookMs > RESPONSE_MS).map(describe), "calls waited too long"),
  ];
}

function isUnavailable(status: number, appError: string): boolean {
  return status === 503 && !appError.startsWith("no error envelope");
}

/** Returns the given percentile of the call durations in ms. */
export function percentileOf(calls: readonly Call[], share: number): number {
  const sorted = calls.map(({ tookMs }) => tookMs).toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
