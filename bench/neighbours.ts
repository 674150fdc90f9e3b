// `npm run bench neighbours [rounds] [part of an attack's name]`: measures /v1/track and /v1/send for one project while another sends the
// worst legal requests. Alternates between idle, a harmless neighbour and a hostile one, so that background load affects all alike.
import { fork, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { setPriority } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { createApiClient } from "../e2e/api-client.ts";
import { BOOTSTRAP, SECRET_KEY, startProgram } from "../e2e/program.ts";
import { attacksOf, EXPLAINED_LENGTH, harmlessOf, type Burst, type HostileProject } from "./attacks.ts";
import { percentile } from "./latency.ts";
import { withMailEnvironment, type MailEnvironment } from "./mail-fixture.ts";
import type { Ending, NeighbourSpec } from "./neighbours-load.ts";
import { addProject, SENDER_DOMAIN } from "./outbox.ts";
import { readNumbers } from "./read-numbers.ts";
import { NUMBER_DIGITS } from "./request.ts";
import { settingsOf } from "./servers.ts";
import { oneDecimal, print, printTable, progress, whole } from "./table.ts";

const LOAD = fileURLToPath(new URL("neighbours-load.ts", import.meta.url));
const ROUNDS = 4;
const PHASE_MS = 15_000;
const QUIET_MS = 2_000;
const WARM_UP_MS = 5_000;
/** Calls a second for each endpoint, each by its own project: 900 a minute, below the default limit of 1,000. */
const CALLS_PER_SECOND = 15;
/** Number of 1 MB rows in each list. */
const LARGE_ROWS = 20;
const LARGE_LENGTH = 900_000;
/** Gives a PNG of about 6 MB. */
const IMAGE_SIDE = 1_400;

/** The neighbour's client process gets a lower priority than the server. */
const NEIGHBOUR_NICENESS = 10;

const SITUATIONS = ["idle", "harmless neighbour", "hostile neighbour"] as const;
type Situation = (typeof SITUATIONS)[number];

/** One situation, over all rounds. */
interface Seen {
  calls: Ending[];
  neighbour: Ending[];
}

export async function benchNeighbours(): Promise<void> {
  const [roundsText = String(ROUNDS), part = ""] = process.argv.slice(3);
  const [rounds = ROUNDS] = readNumbers([ROUNDS], [roundsText]);
  await withMailEnvironment(async (fixture) => {
    const program = await startProgram({
      ...BOOTSTRAP,
      ...settingsOf(fixture.bench),
      ROLES: "api,worker",
      MAIL_TRANSPORT: fixture.sink.transport(),
      API_RATE_LIMIT_PER_MINUTE: "1000",
    });
    const loads = [
      fork(LOAD, { serialization: "advanced" }),
      fork(LOAD, { serialization: "advanced" }),
    ] as const;
    try {
      // In production the neighbour's client would run on another machine, so lower its priority here.
      const [, { pid = 0 }] = loads;
      if (pid > 0) setPriority(pid, NEIGHBOUR_NICENESS);
      const port = Number(new URL(program.url).port);
      const calls = await callsOf(fixture);
      const hostile = await prepareHostile(fixture, program.url);
      const attacks = attacksOf(hostile).filter(({ name }) => name.includes(part));
      if (attacks.length === 0) throw new Error(`No attack has “${part}” in its name.`);
      const neighbours: Record<Situation, readonly Burst[]> = {
        idle: [],
        "harmless neighbour": harmlessOf(attacks, hostile),
        "hostile neighbour": attacks,
      };
      await run(loads[0], { port, forMs: WARM_UP_MS, bursts: calls });
      const seen = new Map<Situation, Seen>(SITUATIONS.map((one) => [one, { calls: [], neighbour: [] }]));
      for (let round = 1; round <= rounds; round++) {
        for (const situation of SITUATIONS) {
          progress(`round ${round} of ${rounds}: ${situation}`);
          const [called, neighbour] = await Promise.all([
            run(loads[0], { port, forMs: PHASE_MS, bursts: calls }),
            run(loads[1], { port, forMs: PHASE_MS, bursts: neighbours[situation] }),
          ]);
          seen.get(situation)?.calls.push(...called);
          seen.get(situation)?.neighbour.push(...neighbour);
          await delay(QUIET_MS);
        }
      }
      printCalls(seen);
      printNeighbour(seen.get("hostile neighbour")?.neighbour ?? []);
    } finally {
      for (const load of loads) load.disconnect();
      await program.stop();
    }
  });
}

async function run(load: ChildProcess, spec: NeighbourSpec): Promise<Ending[]> {
  load.send(spec);
  const [endings] = (await once(load, "message")) as [Ending[]];
  return endings;
}

/** Returns consecutive calls, each for a different address. */
function steadyCalls(path: string, key: string, bodyFor: (address: string) => object): Burst {
  return {
    name: path,
    atOnce: 1,
    everyMs: 1_000 / CALLS_PER_SECOND,
    requests: Array.from({ length: 1_000 }, (_, at) => ({
      method: "POST",
      path,
      key,
      body: Buffer.from(
        JSON.stringify(bodyFor(`person-${String(at).padStart(NUMBER_DIGITS, "0")}@example.com`)),
      ),
    })),
  };
}

/** The observed load: one project tracks and another sends. */
async function callsOf({ outbox }: MailEnvironment): Promise<Burst[]> {
  const shop = await addProject(outbox, "Shop");
  return [
    steadyCalls("/v1/track", SECRET_KEY, (email) => ({
      email,
      event: "order placed",
      data: { plan: "pro" },
    })),
    steadyCalls("/v1/send", shop.secretKey, (to) => ({
      to,
      from: `shop@${SENDER_DOMAIN}`,
      subject: "Your order, {{name}}",
      body: "<p>Thank you for your order, {{name}}.</p>",
      data: { name: "Ada" },
    })),
  ];
}

/** Creates a project with everything its requests use: a contact with a long text, and lists with items of 1 MB. */
async function prepareHostile({ outbox }: MailEnvironment, url: string): Promise<HostileProject> {
  const { secretKey, publicKey } = await addProject(outbox, "Hostile");
  const api = createApiClient(url, { authorization: `Bearer ${secretKey}` });
  const long = await api.post<{ id: string }>("/contacts", {
    email: "long@example.com",
    data: { text: "aB".repeat(EXPLAINED_LENGTH / 2) },
  });
  const text = "a <b>large</b> value, ".repeat(LARGE_LENGTH / 22);
  for (let at = 0; at < LARGE_ROWS; at++) {
    await api.post("/v1/track", { email: `large-${at}@example.com`, event: "large", data: { text } });
    await api.post("/templates", {
      name: `Large ${at}`,
      type: "TRANSACTIONAL",
      subject: "Large",
      body: text,
    });
    await api.post("/campaigns", {
      name: `Large ${at}`,
      subject: "Large",
      body: text,
      from: `news@${SENDER_DOMAIN}`,
      audienceType: "ALL",
    });
  }
  const second = await addProject(outbox, "Hostile too");
  const image = await largeImage();
  const from = `long@${SENDER_DOMAIN}`;
  return { secretKey, publicKey, contactId: long.id, secondKey: second.secretKey, from, image };
}

/** Returns a PNG of noise, which does not compress. */
async function largeImage(): Promise<Buffer> {
  const raw = { width: IMAGE_SIDE, height: IMAGE_SIDE, channels: 3 } as const;
  return sharp(randomBytes(IMAGE_SIDE * IMAGE_SIDE * raw.channels), { raw })
    .png()
    .toBuffer();
}

function printCalls(seen: ReadonlyMap<Situation, Seen>): void {
  const names = [...new Set(seen.get("idle")?.calls.map(({ name }) => name))].toSorted();
  const timesOf = (situation: Situation, of: string) =>
    (seen.get(situation)?.calls ?? []).filter(({ name }) => name === of).map(({ tookMs }) => tookMs);
  printTable(
    [
      "other project's call",
      "neighbour",
      "requests",
      "p50 ms",
      "p99 ms",
      "longest ms",
      "p99 × idle",
      "not 2xx",
    ],
    names.flatMap((name) =>
      SITUATIONS.map((situation) => {
        const times = timesOf(situation, name);
        const p99 = percentile(times, 0.99);
        const failed = seen.get(situation)?.calls.filter((one) => one.name === name && !isFine(one)).length;
        return [
          name,
          situation,
          whole(times.length),
          oneDecimal(percentile(times, 0.5)),
          oneDecimal(p99),
          oneDecimal(percentile(times, 1)),
          oneDecimal(p99 / percentile(timesOf("idle", name), 0.99)),
          whole(failed ?? 0),
        ];
      }),
    ),
  );
  print("\nTargets: with a hostile neighbour p99 at most 3 × idle, and every response is a 2xx.\n");
}

const isFine = ({ status }: Ending) => status >= 200 && status < 300;

function printNeighbour(endings: readonly Ending[]): void {
  const names = [...new Set(endings.map(({ name }) => name))];
  printTable(
    ["request of the hostile project", "requests", "p50 ms", "longest ms", "responses"],
    names.map((name) => {
      const own = endings.filter((one) => one.name === name);
      const times = own.map(({ tookMs }) => tookMs);
      const counts = Object.entries(Object.groupBy(own, ({ status }) => status));
      return [
        name,
        whole(own.length),
        oneDecimal(percentile(times, 0.5)),
        oneDecimal(percentile(times, 1)),
        counts.map(([status, of]) => `${of?.length ?? 0} × ${status === "0" ? "none" : status}`).join(", "),
      ];
    }),
  );
}
