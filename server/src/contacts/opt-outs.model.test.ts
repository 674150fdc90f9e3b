// Random histories of a few addresses: signups, unsubscriptions, renames, deletions and imports, with clicks on old links and late bounces.
// An oracle that knows only addresses predicts the subscriptions.
import { expect, test } from "vitest";
import { transaction } from "../platform/database/database.ts";
import { newId, NO_ONE } from "../platform/ids.ts";
import { createDeliveries } from "../deliveries/deliveries.ts";
import { findReturnedMails } from "../emails/returned/returned-emails.ts";
import { APP_SECRET, useTestServer, type TestProject } from "../testing/test-server.ts";
import { endOfImport, uploadCsv } from "../testing/upload.ts";
import { createContactLinks } from "./links.ts";

const server = useTestServer();
const linksOf = createContactLinks(APP_SECRET, () => "");
const deliveries = createDeliveries({ guard: async () => undefined });
const FORM = { headers: { "content-type": "application/x-www-form-urlencoded" } };
const ADDRESSES = Array.from({ length: 5 }, (_, at) => `person${at}@sandbox.localhost`);
const STEPS = 220;

/** The state of an address: whether it opted out since its last subscription, and its contact, if any. */
interface Truth {
  isOut: boolean;
  contact: { id: string; subscribed: boolean } | null;
}

/** Mulberry32 returns the same numbers for the same seed. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

class Oracle {
  readonly truths = new Map<string, Truth>(
    ADDRESSES.map((address) => [address, { isOut: false, contact: null }]),
  );

  of(address: string): Truth {
    const truth = this.truths.get(address);
    if (truth === undefined) throw new Error(`${address} is unknown.`);
    return truth;
  }

  wish(address: string, subscribed: boolean): void {
    const truth = this.of(address);
    truth.isOut = !subscribed;
    if (truth.contact !== null) truth.contact.subscribed = subscribed;
  }

  /** `wish` is undefined if the caller did not set the subscription. */
  upsert(address: string, id: string, wish: boolean | undefined, byDefault: boolean): void {
    const truth = this.of(address);
    truth.contact ??= { id, subscribed: byDefault && !truth.isOut };
    if (wish !== undefined) this.wish(address, wish);
  }

  rename(from: string, to: string, wish: boolean | undefined): void {
    const [old, next] = [this.of(from), this.of(to)];
    const { contact } = old;
    if (contact === null) throw new Error("Only an existing contact can be renamed.");
    old.contact = null;
    next.isOut ||= old.isOut;
    next.contact = { ...contact, subscribed: contact.subscribed && !next.isOut };
    if (wish !== undefined) this.wish(to, wish);
  }

  subscriptions(): Array<[string, boolean]> {
    return [...this.truths].flatMap(([address, { contact }]): Array<[string, boolean]> =>
      contact === null ? [] : [[address, contact.subscribed]],
    );
  }
}

interface World {
  project: TestProject;
  oracle: Oracle;
  below: (most: number) => number;
  /** Emails sent so far, in order, for later clicks and bounces. */
  mails: Array<{ id: string; address: string }>;
}

type Step = (world: World, address: string) => Promise<void>;

const wishOf = (below: World["below"]) => [undefined, undefined, true, false][below(4)];
const optional = (subscribed: boolean | undefined) => (subscribed === undefined ? {} : { subscribed });

async function callFor<Body>({ project }: World, method: string, path: string, body?: object): Promise<Body> {
  const reply = await server.call<Body>(method, path, project.byKey, body);
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.text}`);
  return reply.body;
}

const STEPS_BY_NAME: Record<string, Step> = {
  async create(world, email) {
    const wish = wishOf(world.below);
    const { id } = await callFor<{ id: string }>(world, "POST", "/contacts", { email, ...optional(wish) });
    world.oracle.upsert(email, id, wish, true);
  },
  async track(world, email) {
    const wish = wishOf(world.below);
    const { data } = await callFor<{ data: { contact: string } }>(world, "POST", "/v1/track", {
      email,
      event: "seen",
      ...optional(wish),
    });
    world.oracle.upsert(email, data.contact, wish, true);
  },
  async send(world, to) {
    const wish = wishOf(world.below);
    const mail = { to, from: "a@sandbox.localhost", subject: "s", body: "b", ...optional(wish) };
    const { data } = await callFor<{ data: { emails: Array<{ contact: { id: string }; email: string }> } }>(
      world,
      "POST",
      "/v1/send",
      mail,
    );
    const [sent] = data.emails;
    if (sent === undefined) throw new Error("One email was sent.");
    world.mails.push({ id: sent.email, address: to });
    world.oracle.upsert(to, sent.contact.id, wish, false);
  },
  async remove(world, address) {
    const truth = world.oracle.of(address);
    if (truth.contact === null) return;
    await callFor(world, "DELETE", `/contacts/${truth.contact.id}`);
    truth.contact = null;
  },
  async edit(world, address) {
    const { contact } = world.oracle.of(address);
    if (contact === null) return;
    const subscribed = world.below(2) === 0;
    await callFor(world, "PATCH", `/contacts/${contact.id}`, { subscribed });
    world.oracle.wish(address, subscribed);
  },
  async rename(world, address) {
    const { contact } = world.oracle.of(address);
    const to = ADDRESSES[world.below(ADDRESSES.length)] ?? "";
    if (contact === null || world.oracle.of(to).contact !== null) return;
    const wish = wishOf(world.below);
    await callFor(world, "PATCH", `/contacts/${contact.id}`, { email: to, ...optional(wish) });
    world.oracle.rename(address, to, wish);
  },
  async click(world) {
    const mail = world.mails[world.below(world.mails.length)];
    if (mail === undefined) return;
    const links = linksOf(world.project.id, NO_ONE, { address: mail.address, emailId: mail.id });
    const subscribed = world.below(3) === 0;
    const [url, form] = subscribed
      ? [links.manageUrl, "action=subscribe"]
      : [links.unsubscribeUrl, "List-Unsubscribe=One-Click"];
    const { status } = await server.call("POST", url, FORM, form);
    expect(status).toBe(200);
    world.oracle.wish(mail.address, subscribed);
  },
  async bounce(world) {
    const mail = world.mails[world.below(world.mails.length)];
    if (mail === undefined) return;
    const isNew = await transaction(server.database, async (tx) => {
      const names = { projectId: world.project.id, emailId: mail.id, providerId: null };
      const [found] = await findReturnedMails(tx, [names]);
      if (found === undefined || found === null) throw new Error("The mail is there.");
      const report = { mail: found, recipients: [mail.address], at: new Date(), data: {} };
      return deliveries.applyReports(tx, [{ ...report, kind: "unsubscribed" }]);
    });
    expect(isNew).toEqual([true]);
    world.oracle.wish(mail.address, false);
  },
  async import(world, address) {
    const cell = ["", "yes", "no"][world.below(3)] ?? "";
    const { body } = await uploadCsv(
      server.call,
      world.project.byKey,
      `email,subscribed\n${address},${cell}\n`,
    );
    await endOfImport(server.call, world.project.byKey, body.jobId);
    const rows = await server.rows<{ id: string }>(
      "select id from contacts where project_id = $1 and email = $2",
      world.project.id,
      address,
    );
    world.oracle.upsert(address, rows[0]?.id ?? newId(), cell === "no" ? false : undefined, true);
  },
};

/** Imports wait for a job, so they are rarer. */
const NAMES = [
  ...Object.keys(STEPS_BY_NAME),
  "create",
  "send",
  "send",
  "remove",
  "remove",
  "rename",
  "click",
  "click",
];

const storedIn = async ({ id }: TestProject) =>
  (
    await server.rows<{ email: string; subscribed: boolean }>(
      "select email, subscribed from contacts where project_id = $1 order by email",
      id,
    )
  ).map(({ email, subscribed }): [string, boolean] => [email, subscribed]);

test.for([1, 2, 3])("subscriptions match an oracle keyed by address (seed %i)", async (seed) => {
  const world: World = {
    project: await server.createProject(),
    oracle: new Oracle(),
    below: randomNumbers(seed),
    mails: [],
  };
  const history: string[] = [];
  for (let at = 0; at < STEPS; at++) {
    const name = NAMES[world.below(NAMES.length)] ?? "";
    const address = ADDRESSES[world.below(ADDRESSES.length)] ?? "";
    history.push(`${name} ${address}`);
    await STEPS_BY_NAME[name]?.(world, address);
    expect({ history, is: await storedIn(world.project) }).toEqual({
      history,
      is: world.oracle.subscriptions(),
    });
  }
  // All contacts leave and return, which reveals the stored opt-outs.
  for (const address of ADDRESSES) await STEPS_BY_NAME["remove"]?.(world, address);
  for (const email of ADDRESSES) {
    await callFor(world, "POST", "/v1/track", { email, event: "back" });
    world.oracle.upsert(email, "", undefined, true);
  }
  expect({ history, is: await storedIn(world.project) }).toEqual({
    history,
    is: world.oracle.subscriptions(),
  });
});
