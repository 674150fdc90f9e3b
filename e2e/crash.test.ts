// Kills the server and its database under load. Every accepted call must have taken effect exactly once.
import { afterEach, expect, test } from "vitest";
import {
  createApiClient,
  type ApiClient,
  type EmailItem,
  type MessageItem,
  type Sent,
  type Tracked,
} from "./api-client.ts";
import { BOOTSTRAP, makeDataFolder, startProgram, type Program } from "./program.ts";
import { leastTime } from "../server/src/testing/least-time.ts";
import { waitUntil } from "./wait-until.ts";

const CALLERS = 200;
/** Upper limit of calls per caller before the kill. */
const MAX_CALLS_PER_CALLER = 20;
const RESPONSES_BEFORE_KILL = 300;
const FIRST_RESPONSES_TIMEOUT_MS = 30_000;
const RECOVERY_MS = 30_000;
/** Longer than the promise, so that a busy machine only costs another try. */
const GIVE_UP_MS = 90_000;

let program: Program | undefined;
let removeFolder: (() => Promise<void>) | undefined;

async function cleanUp(): Promise<void> {
  await program?.kill();
  await removeFolder?.();
}
afterEach(cleanUp);

interface Responded {
  tracks: Array<{ email: string; number: number; contactId: string; eventId: string }>;
  sends: Array<{ email: string; emailId: string }>;
  /** Calls in flight when the program died. */
  unanswered: number;
}

/** 200 callers, half of which send, call until their connection breaks. Each call uses a different address. */
async function callUntilBroken(api: ApiClient, responded: Responded): Promise<void> {
  const callOnce = async (caller: number, number: number): Promise<void> => {
    const email = `person-${caller}-${number}@example.com`;
    if (caller % 2 === 0) {
      const { data } = await api.post<Tracked>("/v1/track", { email, event: "clicked", data: { number } });
      responded.tracks.push({ email, number, contactId: data.contact, eventId: data.event });
    } else {
      const body = {
        from: "hello@sandbox.localhost",
        to: email,
        subject: `Mail ${number}`,
        body: "<p>Hi</p>",
      };
      const { data } = await api.post<Sent>("/v1/send", body);
      responded.sends.push({ email, emailId: data.emails[0]?.email ?? "" });
    }
  };
  const callers = Array.from({ length: CALLERS }, async (_, caller) => {
    for (let number = 0; number < MAX_CALLS_PER_CALLER; number++) await callOnce(caller, number);
  });
  for (const result of await Promise.allSettled(callers))
    if (result.status === "rejected") responded.unanswered++;
}

async function listById<Item extends { id: string }>(
  api: ApiClient,
  path: string,
): Promise<Map<string, Item>> {
  return new Map((await api.listAll<Item>(path)).map((item) => [item.id, item]));
}

/** Kills the program, starts it again and checks every accepted call. Returns the milliseconds from the start to the last email. */
async function crashAndRecover(): Promise<number> {
  await cleanUp();
  const folder = await makeDataFolder();
  removeFolder = folder.remove;
  program = await startProgram({ DATA_DIR: folder.path, ...BOOTSTRAP });
  const responded: Responded = { tracks: [], sends: [], unanswered: 0 };
  const calling = callUntilBroken(createApiClient(program.url), responded);
  await waitUntil(
    "the first answers",
    FIRST_RESPONSES_TIMEOUT_MS,
    () => responded.tracks.length + responded.sends.length >= RESPONSES_BEFORE_KILL,
  );
  await program.kill();
  await calling;
  expect(responded.unanswered, "callers that the death interrupted").toBeGreaterThan(0);

  program = await startProgram({ DATA_DIR: folder.path, ...BOOTSTRAP });
  const startedAtMs = performance.now();
  const api = createApiClient(program.url);
  const contacts = await listById<{ id: string; email: string; data: unknown }>(api, "/contacts");
  const events = await listById<{ id: string; contactId: string; data: unknown }>(
    api,
    "/events?eventName=clicked",
  );
  for (const { email, number, contactId, eventId } of responded.tracks) {
    expect(contacts.get(contactId)).toMatchObject({ email, data: { number } });
    expect(events.get(eventId)).toMatchObject({ contactId, data: { number } });
  }

  await waitUntil("the end of every accepted mail", GIVE_UP_MS, async () => {
    const emails = await listById<EmailItem>(api, "/emails");
    return responded.sends.every(({ emailId }) => emails.get(emailId)?.status === "DELIVERED");
  });
  const recoveredMs = performance.now() - startedAtMs;
  const messages = await api.listAll<MessageItem>("/mailbox/messages");
  const counts = new Map<string, number>();
  for (const { emailId } of messages) counts.set(emailId, (counts.get(emailId) ?? 0) + 1);
  for (const { email, emailId } of responded.sends) {
    expect(counts.get(emailId), `messages of ${email}`).toBe(1);
    expect(messages.find((message) => message.emailId === emailId)?.to).toBe(email);
  }
  expect([...counts.values()].every((count) => count === 1)).toBe(true);
  return recoveredMs;
}

test("kill -9 during 200 parallel calls loses no accepted call; its emails arrive once in 30 s", async () => {
  expect(await leastTime(RECOVERY_MS, crashAndRecover, 2)).toBeLessThan(RECOVERY_MS);
}, 600_000);
