// Fills the outbox for benchmarks of the sender: projects with a verified domain, and queued mails of 20 KB each.
// Before it: servers.ts started a database. After it: deliver.ts and fairness.ts start senders on it.
import { generateKeyPairSync } from "node:crypto";
import { createSealer } from "../server/src/platform/crypto.ts";
import { createDatabase, createPool, transaction, type Database } from "../server/src/platform/database.ts";
import { newId } from "../server/src/platform/ids.ts";
import { createLog } from "../server/src/platform/log.ts";
import { enqueueEmails, makeContent } from "../server/src/emails/emails.ts";
import { APP_SECRET, type BenchDatabase } from "./servers.ts";

export const SENDER_DOMAIN = "sender.example";
const PARAGRAPH =
  '<p>Dear {{firstName ?? "reader"}}, your plan is <b>{{plan}}</b>; here is <a href="https://example.com/news">the news</a> of the week, in a paragraph.</p>\n';
/** 20 KB of HTML with two variables in each paragraph. */
export const HTML = `<html><body>${PARAGRAPH.repeat(Math.ceil(20_480 / PARAGRAPH.length))}</body></html>`;
export const SUBJECT = 'News for {{firstName ?? "you"}}';

export interface Outbox {
  database: Database;
  projectId: string;
  /** PEM, to sign with elsewhere. */
  privateKey: string;
  close(): Promise<void>;
}

/** The first project of the database, allowed to send from SENDER_DOMAIN with an RSA-2048 key. */
export async function openOutbox(bench: BenchDatabase): Promise<Outbox> {
  const log = createLog({ level: "silent" });
  const database = createDatabase(createPool({ connection: bench.connection, maxConnections: 2, log }));
  const project = await database.selectFrom("projects").select("id").executeTakeFirstOrThrow();
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const outbox = { database, projectId: project.id, privateKey: pem, close: () => database.destroy() };
  await addDomain(
    outbox,
    project.id,
    pem,
    publicKey.export({ type: "spki", format: "der" }).toString("base64"),
  );
  return outbox;
}

async function addDomain(outbox: Outbox, projectId: string, pem: string, publicKey: string): Promise<void> {
  await outbox.database
    .insertInto("domains")
    .values({
      project_id: projectId,
      id: newId(),
      domain: SENDER_DOMAIN,
      status: "VERIFIED",
      dkim_selector: "bench",
      dkim_public_key: publicKey,
      dkim_private_key: createSealer(APP_SECRET).seal(pem, `${projectId} ${SENDER_DOMAIN}`),
    })
    .execute();
}

/** Another project with a domain of its own key. */
export async function addProject(outbox: Outbox): Promise<string> {
  const id = newId();
  await outbox.database.insertInto("projects").values({ id, name: "Another" }).execute();
  await addDomain(outbox, id, outbox.privateKey, "unused");
  return id;
}

/** Queues `count` mails of one content, to contacts of the project. */
export async function queueMails(
  outbox: Outbox,
  projectId: string,
  count: number,
  kind: "TRANSACTIONAL" | "CAMPAIGN",
): Promise<void> {
  const contacts = await outbox.database
    .selectFrom("contacts")
    .select(["id", "email"])
    .where("project_id", "=", projectId)
    .limit(count)
    .execute();
  const content = makeContent({
    projectId,
    from: { address: `news@${SENDER_DOMAIN}`, name: "News" },
    replyTo: null,
    subject: SUBJECT,
    html: HTML,
    text: null,
    headers: [],
    attachments: [],
  });
  const BATCH = 5_000;
  for (let at = 0; at < count; at += BATCH) {
    const batch = Array.from(
      { length: Math.min(BATCH, count - at) },
      (_, place) => contacts[(at + place) % contacts.length],
    );
    await transaction(outbox.database, (tx) =>
      enqueueEmails(
        tx,
        batch.map((contact) => ({
          projectId,
          contactId: contact?.id ?? "",
          kind,
          to: { address: contact?.email ?? "", name: null },
          copies: null,
          content,
          variables: {},
        })),
      ),
    );
  }
}
