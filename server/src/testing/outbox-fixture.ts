// Provides what tests of the sender share: a database, a renderer, a project, senders that stop after each test, and emails to queue.
import { sql } from "kysely";
import type { PoolConfig } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from "vitest";
import type { EmailKind } from "@postloft/contract/emails.ts";
import { createDatabase, transaction, type Database } from "../platform/database/database.ts";
import { newId } from "../platform/ids.ts";
import { createLog } from "../platform/log.ts";
import { createMetrics, type Metrics } from "../platform/metrics.ts";
import { createTestDatabase, type TestDatabase } from "../platform/database/test-database.ts";
import { addProject } from "./add-project.ts";
import { RECIPIENT_CHECKS } from "../suppressions/recipients.ts";
import { renderingDataOf } from "../contacts/rendering-data.ts";
import { createDeliveries } from "../deliveries/deliveries.ts";
import { statusOfEmail } from "../emails/rows/status-queries.ts";
import { findWrongCounts, type WrongCount } from "../emails/results/email-counts.ts";
import { enqueueEmails, makeContent } from "../emails/outbox/emails.ts";
import { upsertSender } from "../emails/lease/lease-queries.ts";
import type { ListKind } from "../message/message-headers.ts";
import type { SigningKey } from "../emails/sending/build-messages.ts";
import type { OwnTransports } from "../emails/sending/own-transports.ts";
import { createPreparer } from "../emails/sending/prepare-emails.ts";
import { SYSTEM_PROJECT_ID } from "../emails/rows/system-project.ts";
import type { Transport } from "../transports/transport.ts";
import { createRenderer, type Renderer } from "../rendering/renderer.ts";
import { startSender, type Sender, type SenderOptions } from "../emails/sending/sender.ts";

/** An email to queue, to a new contact unless it names one. */
export interface WantedMail {
  project?: string;
  kind?: EmailKind;
  /** The contact's address. Default: an address at a domain that no other email of the call has. */
  to?: string;
  subscribed?: boolean;
  contactId?: string;
  listKind?: ListKind;
  campaignId?: string;
  headers?: ReadonlyArray<{ name: string; value: string }>;
  subject?: string;
}

export interface Outbox {
  readonly database: Database;
  readonly connection: PoolConfig;
  readonly projectId: string;
  readonly metrics: Metrics;
  createProject(): Promise<string>;
  enqueue(wanted: readonly WantedMail[]): Promise<string[]>;
  /** Creates a sender with a valid lease and no process, and returns its id. */
  addLiveSender(): Promise<string>;
  start(
    transport: Transport,
    over?: Partial<SenderOptions> & { signing?: SigningKey; ownTransports?: OwnTransports },
  ): Promise<Sender>;
  /** Returns column values of an email. */
  row(
    id: string,
  ): Promise<{ status: string; reason: string | null; attempts: number; contactId: string | null }>;
  until(id: string, status: string): Promise<void>;
  /** Returns how many emails have each status. */
  countByStatus(): Promise<Record<string, number>>;
}

/** Puts an email in the state after the sender has committed its pre-send check. */
export async function markInDoubt(database: Database, senderId: string, emailId: string): Promise<void> {
  await sql`update emails set status = 'CLAIMED', sender_id = ${senderId} where id = ${emailId}`.execute(
    database,
  );
  await sql`
    insert into senders (id, lease_until, in_doubt) values (${senderId}, now() + interval '1 minute', ${[emailId]}::uuid[])
    on conflict (id) do update set in_doubt = array_append(senders.in_doubt, ${emailId}::uuid)`.execute(
    database,
  );
}

/** Makes a sender look dead by letting its lease expire. */
export async function expireLease(database: Database, senderId: string): Promise<void> {
  await sql`update senders set lease_until = now() - interval '1 second' where id = ${senderId}`.execute(
    database,
  );
}

export const OUTBOX_WAIT = { timeout: 30_000, interval: 10 };
const BEAT_MS = 50;
const silent = createLog({ level: "silent" });

/** Adds a sending campaign without recipients unless it exists. */
export async function addSendingCampaign(
  database: Database,
  { projectId, campaignId }: { projectId: string; campaignId: string },
): Promise<void> {
  await sql`
    insert into campaigns (project_id, id, name, subject, body, from_address, audience_type, status)
    values (${projectId}, ${campaignId}, 'Test', 's', 'b', 'me@sender.example', 'ALL', 'SENDING')
    on conflict do nothing`.execute(database);
  await sql`
    insert into campaign_queues (project_id, campaign_id, state) values (${projectId}, ${campaignId}, 'OPEN')
    on conflict do nothing`.execute(database);
}

/** Provides one database for the tests of a file, emptied after each of them. */
export function useOutbox(): Outbox {
  const state: { testDatabase?: TestDatabase; renderer?: Renderer } = {};
  const senders: Sender[] = [];
  let database: Database;
  let projectId = "";
  let metrics = createMetrics();

  beforeAll(async () => {
    state.testDatabase = await createTestDatabase();
    state.renderer = createRenderer({ threads: 1 });
    database = createDatabase(state.testDatabase.pool);
  });
  beforeEach(async () => {
    metrics = createMetrics();
    projectId = await createProject();
  });
  afterEach(async () => {
    await Promise.all(senders.splice(0).map((sender) => sender.stop()));
    const projects = await database.selectFrom("projects").select("id").execute();
    const wrong: WrongCount[] = [];
    for (const { id } of projects) wrong.push(...(await findWrongCounts(database, id)));
    // Deletes a few tables because that is ten times as fast as truncating everything.
    for (const table of ["email_attempts", "emails", "mailbox_messages", "senders"])
      await sql`delete from ${sql.table(table)}`.execute(database);
    await sql`delete from projects where id <> ${SYSTEM_PROJECT_ID}`.execute(database);
    expect(wrong).toEqual([]);
  });
  afterAll(async () => {
    await state.renderer?.close();
    await state.testDatabase?.drop();
  });

  async function createProject(): Promise<string> {
    const id = newId();
    await addProject(database, { id });
    return id;
  }

  async function row(id: string) {
    return database
      .selectFrom("emails as e")
      .select([statusOfEmail.as("status"), "reason", "attempts", "contactId"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
  }

  return {
    get database() {
      return database;
    },
    get connection() {
      return state.testDatabase?.connection ?? {};
    },
    get projectId() {
      return projectId;
    },
    get metrics() {
      return metrics;
    },
    createProject,
    row,
    async enqueue(wanted) {
      const mails = wanted.map((mail, at) => ({
        project: projectId,
        kind: "CAMPAIGN" as const,
        to: `${newId()}@d${at}.example.com`,
        ...mail,
        contactId: mail.contactId ?? newId(),
        isNew: mail.contactId === undefined,
      }));
      return transaction(database, async (tx) => {
        const contacts = mails.flatMap((mail) =>
          mail.isNew
            ? [
                {
                  projectId: mail.project,
                  id: mail.contactId,
                  email: mail.to,
                  subscribed: mail.subscribed ?? true,
                },
              ]
            : [],
        );
        if (contacts.length > 0) await tx.insertInto("contacts").values(contacts).execute();
        for (const [campaignId, own] of Map.groupBy(mails, (mail) => mail.campaignId)) {
          const [first] = own;
          if (campaignId === undefined || first === undefined) continue;
          await addSendingCampaign(tx, { projectId: first.project, campaignId });
          await tx
            .insertInto("email_counts")
            .values({ projectId: first.project, subjectId: campaignId, recipients: own.length })
            .execute();
        }
        return enqueueEmails(
          tx,
          mails.map((mail) => ({
            projectId: mail.project,
            contactId: mail.contactId,
            kind: mail.kind,
            to: { address: mail.to, name: null },
            copies: null,
            content: makeContent({
              projectId: mail.project,
              from: { address: "me@sender.example", name: null },
              replyTo: null,
              subject: mail.subject ?? "Hello",
              html: "<p>Hi</p>",
              text: null,
              headers: mail.headers ?? [],
              attachments: [],
              listKind: mail.listKind ?? null,
            }),
            variables: {},
            ...(mail.campaignId === undefined ? {} : { campaignId: mail.campaignId }),
          })),
        );
      });
    },
    async addLiveSender() {
      const senderId = newId();
      await upsertSender(database, senderId, 60);
      return senderId;
    },
    async start(transport, over = {}) {
      const { signing = { kind: "unsigned" }, ownTransports, ...options } = over;
      if (state.renderer === undefined) throw new Error("The renderer runs from beforeAll on.");
      const sender = await startSender({
        mailbox: transport,
        database,
        transport,
        prepare: createPreparer({
          database,
          renderer: state.renderer,
          systemFrom: { address: "post@host.example", name: "Postloft" },
          installation: transport,
          ...(ownTransports === undefined ? {} : { ownTransports }),
          ports: {
            ...renderingDataOf(database),
            findSigningKeys: async (names) =>
              new Map(names.map((name) => [`${name.projectId} ${name.domain}`, signing])),
            linksOf: (project, contact) => ({
              unsubscribeUrl: `https://u.example/${project}/${contact}`,
              subscribeUrl: "",
              manageUrl: "",
            }),
            readFooters: async () => [],
          },
        }),
        recipients: RECIPIENT_CHECKS,
        ...createDeliveries({ guard: async () => undefined }),
        connections: 5,
        beatMs: BEAT_MS,
        log: silent,
        metrics,
        ...options,
      });
      senders.push(sender);
      return sender;
    },
    async until(id, status) {
      await vi.waitFor(async () => expect((await row(id)).status).toBe(status), OUTBOX_WAIT);
    },
    async countByStatus() {
      const rows = await database
        .selectFrom("emails as e")
        .select([statusOfEmail.as("status"), (select) => select.fn.countAll<number>().as("count")])
        .groupBy(statusOfEmail)
        .execute();
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
    },
  };
}
