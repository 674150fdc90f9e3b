// Fills the database for sender benchmarks: projects with a verified domain, contacts, and queued emails of 20 KB each.
import { generateKeyPairSync } from "node:crypto";
import { sql } from "kysely";
import { createSealer } from "../server/src/platform/crypto.ts";
import {
  createDatabase,
  createPool,
  transaction,
  type Database,
} from "../server/src/platform/database/database.ts";
import { newId } from "../server/src/platform/ids.ts";
import { createLog } from "../server/src/platform/log.ts";
import { enqueueEmails, makeContent } from "../server/src/emails/outbox/emails.ts";
import { makeKeyPair } from "../server/src/projects/keys.ts";
import { createProject } from "../server/src/projects/projects.ts";
import { CONTACT_DATA, HTML, SUBJECT } from "./content.ts";
import { APP_SECRET, type BenchDatabase } from "./servers.ts";
import { progress, whole } from "./table.ts";
import { SYSTEM_PROJECT_ID } from "../server/src/emails/rows/system-project.ts";

export const SENDER_DOMAIN = "sender.example";
const CONTACTS_AT_ONCE = 50_000;
const MAILS_AT_ONCE = 5_000;

export interface Outbox {
  database: Database;
  projectId: string;
  /** PEM, for signing outside of the server. */
  privateKey: string;
  publicKey: string;
  close(): Promise<void>;
}

/** Opens the database's first project and lets it send from SENDER_DOMAIN with an RSA-2048 key. */
export async function openOutbox(bench: BenchDatabase): Promise<Outbox> {
  const log = createLog({ level: "silent" });
  const database = createDatabase(createPool({ connection: bench.connection, maxConnections: 2, log }));
  const project = await database
    .selectFrom("projects")
    .select("id")
    .where("id", "<>", SYSTEM_PROJECT_ID)
    .executeTakeFirstOrThrow();
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const outbox = {
    database,
    projectId: project.id,
    privateKey: pem,
    publicKey: publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    close: () => database.destroy(),
  };
  await addDomain(outbox, project.id);
  return outbox;
}

async function addDomain({ database, privateKey, publicKey }: Outbox, projectId: string): Promise<void> {
  await database
    .insertInto("domains")
    .values({
      projectId,
      id: newId(),
      domain: SENDER_DOMAIN,
      status: "VERIFIED",
      dkimSelector: "bench",
      dkimPublicKey: publicKey,
      dkimPrivateKey: createSealer(APP_SECRET).seal(privateKey, `${projectId} ${SENDER_DOMAIN}`),
      // The domain is not in DNS, so no check may run during a benchmark.
      nextCheckAt: sql<Date>`now() + interval '1 day'`,
    })
    .execute();
}

export interface ProjectAccess {
  id: string;
  secretKey: string;
  publicKey: string;
}

/** Adds another project of the same owner that may send from SENDER_DOMAIN. */
export async function addProject(outbox: Outbox, name: string): Promise<ProjectAccess> {
  const { database } = outbox;
  const { id: ownerId } = await database.selectFrom("users").select("id").executeTakeFirstOrThrow();
  const keys = makeKeyPair();
  const project = await transaction(database, (tx) =>
    createProject(tx, { sealer: createSealer(APP_SECRET), inboundDomain: null }, { name, ownerId, keys }),
  );
  await addDomain(outbox, project.id);
  return { id: project.id, secretKey: keys.secret, publicKey: keys.public };
}

/** Adds `count` subscribed contacts with data for the content's variables. */
export async function addContacts({ database }: Outbox, projectId: string, count: number): Promise<void> {
  await unlimited(database, async (connection) => {
    // The search index merges one long pending list in half the time of many short ones.
    await sql`set gin_pending_list_limit = '1GB'`.execute(connection);
    for (let first = 0; first < count; first += CONTACTS_AT_ONCE) {
      const last = Math.min(count, first + CONTACTS_AT_ONCE) - 1;
      await sql`insert into contacts (project_id, id, email, subscribed, data)
        select ${projectId}::uuid, uuidv7(), 'reader-' || n || '@example.com', true, ${sql.raw(CONTACT_DATA)}
        from generate_series(${first}::int, ${last}::int) n`.execute(connection);
      progress(`${whole(last + 1)} of ${whole(count)} contacts`);
    }
    await sql`vacuum (analyze) contacts`.execute(connection);
    await sql`checkpoint`.execute(connection);
  });
}

/** Runs on one connection without a statement timeout, because a million rows take longer than the program allows. */
export async function unlimited<T>(
  database: Database,
  work: (connection: Database) => Promise<T>,
): Promise<T> {
  return database.connection().execute(async (connection) => {
    await sql`set statement_timeout = 0`.execute(connection);
    await sql`set transaction_timeout = 0`.execute(connection);
    try {
      return await work(Object.assign(connection, { effects: database.effects }));
    } finally {
      await sql`reset all`.execute(connection);
    }
  });
}

/** Queues `count` emails with the same content to contacts of the project. */
export async function queueMails(
  outbox: Outbox,
  projectId: string,
  count: number,
  kind: "TRANSACTIONAL" | "CAMPAIGN",
): Promise<void> {
  const contacts = await outbox.database
    .selectFrom("contacts")
    .select(["id", "email"])
    .where("projectId", "=", projectId)
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
  for (let at = 0; at < count; at += MAILS_AT_ONCE) {
    const batch = Array.from(
      { length: Math.min(MAILS_AT_ONCE, count - at) },
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
    progress(`${whole(at + batch.length)} of ${whole(count)} emails queued`);
  }
}
