// From claimed rows to signed messages: load contents and contacts, render, build, sign. A mail that cannot be prepared fails alone.
// Before it: sender.ts claimed. After it: sender.ts hands the messages to the transport.
import { LRUCache } from "lru-cache";
import { domainOf, hasNonAsciiLocalPart } from "@postloft/contract/address.ts";
import { LIMITS } from "@postloft/contract/limits.ts";
import type { Database } from "../platform/database.ts";
import type { Copies, Mailbox, StoredAttachment } from "./emails.ts";
import { signMessage, type DkimKey } from "./message/dkim.ts";
import type { Attachment } from "./message/attachment.ts";
import type { Mailbox as NamedMailbox } from "./message/header.ts";
import { buildMessage } from "./message/message.ts";
import type { OutgoingMessage } from "./providers/transport.ts";
import type { Renderer, RenderResult } from "./rendering/renderer.ts";
import { messageDateOf, messageIdOf } from "./rules.ts";
import { findContents, findFiles, type ClaimedRow } from "./sender-queries.ts";

/** What the sender must know from folders further up; given by main.ts. */
export interface Surroundings {
  /** Contacts by id, for template variables. */
  readContacts(
    keys: ReadonlyArray<{ projectId: string; id: string }>,
  ): Promise<Map<string, { email: string; subscribed: boolean; data: Record<string, unknown> }>>;
  /** Whether a project may send from a domain right now, and with which key; the reason when it may not. */
  findSigningKeys(
    domains: ReadonlyArray<{ projectId: string; domain: string }>,
  ): Promise<Map<string, SigningKey>>;
  /** The three addresses a recipient can open. */
  linksOf(
    projectId: string,
    contactId: string,
  ): { unsubscribeUrl: string; subscribeUrl: string; manageUrl: string };
}

/** `unsigned` only for a domain that never leaves this machine. */
export type SigningKey =
  | { kind: "key"; key: DkimKey }
  | { kind: "unsigned" }
  | { kind: "refused"; reason: string };

export type Prepared =
  | { kind: "ready"; row: ClaimedRow; message: OutgoingMessage; from: string; subject: string }
  | { kind: "failed"; row: ClaimedRow; reason: string };

type Content = Awaited<ReturnType<typeof findContents>>[number];

/** Contents seldom differ within a batch and never change: kept up to this many bytes. */
const CONTENT_CACHE_BYTES = 32 * 1024 * 1024;

export function createPreparer(options: {
  database: Database;
  renderer: Renderer;
  surroundings: Surroundings;
}) {
  const { database, renderer, surroundings } = options;
  const contents = new LRUCache<string, Content>({
    maxSize: CONTENT_CACHE_BYTES,
    sizeCalculation: (content) => content.html.length + (content.text?.length ?? 0) + 500,
  });

  async function loadContents(rows: readonly ClaimedRow[]): Promise<Map<string, Content>> {
    const wanted = new Map(
      rows.map((row) => [contentKey(row), { projectId: row.project_id, id: row.content_id }]),
    );
    const found = new Map<string, Content>();
    for (const key of wanted.keys()) {
      const cached = contents.get(key);
      if (cached !== undefined) found.set(key, cached);
    }
    const missing = [...wanted].filter(([key]) => !found.has(key)).map(([, value]) => value);
    for (const content of missing.length === 0 ? [] : await findContents(database, missing)) {
      const key = `${content.project_id} ${content.id}`;
      found.set(key, content);
      contents.set(key, content);
    }
    return found;
  }

  async function prepareOne(
    row: ClaimedRow,
    content: Content,
    key: SigningKey | undefined,
    rendered: RenderResult | undefined,
  ): Promise<Prepared> {
    if (key === undefined || key.kind === "refused")
      return { kind: "failed", row, reason: key?.reason ?? "The sender's domain is not verified." };
    if (rendered === undefined || !rendered.ok)
      return { kind: "failed", row, reason: rendered?.reason ?? "The mail was not rendered." };
    const copies = (row.copies ?? { cc: [], bcc: [] }) as Copies;
    const built = buildMessage({
      messageId: messageIdOf(row.id, content.from_address),
      date: messageDateOf(row.id),
      from: named({ address: content.from_address, name: content.from_name }),
      to: [named({ address: row.to_address, name: row.to_name })],
      cc: copies.cc.map(named),
      ...(content.reply_to === null ? {} : { replyTo: { address: content.reply_to } }),
      subject: rendered.subject,
      html: rendered.html,
      text: rendered.text,
      headers: messageHeaders(content.headers as Array<{ name: string; value: string }>),
      attachments: await loadAttachments(row, content),
    });
    const raw = key.kind === "key" ? await signMessage(built, key.key) : built;
    if (raw.length > LIMITS.messageBytes.value)
      return {
        kind: "failed",
        row,
        reason: `The message is larger than ${LIMITS.messageBytes.value} bytes.`,
      };
    const recipients = [row.to_address, ...copies.cc.map(addressOf), ...copies.bcc.map(addressOf)];
    const envelope = { from: content.from_address, to: [...new Set(recipients)] };
    return {
      kind: "ready",
      row,
      from: content.from_address,
      subject: rendered.subject,
      message: {
        emailId: row.id,
        projectId: row.project_id,
        attempt: row.attempts + 1,
        envelope,
        raw,
        needsSmtpUtf8: [envelope.from, ...envelope.to].some(hasNonAsciiLocalPart),
      },
    };
  }

  async function loadAttachments(row: ClaimedRow, content: Content): Promise<Attachment[]> {
    const stored = content.attachments as StoredAttachment[];
    if (stored.length === 0) return [];
    const files = await findFiles(
      database,
      row.project_id,
      stored.map((attachment) => attachment.fileId),
    );
    return stored.map(({ fileId, filename, contentType, contentId, disposition }) => {
      const bytes = files.get(fileId);
      if (bytes === undefined) throw new Error(`The file ${fileId} of mail ${row.id} is missing.`);
      return {
        filename,
        contentType,
        disposition,
        content: bytes,
        ...(contentId === null ? {} : { contentId }),
      };
    });
  }

  /** Prepares a batch; answers one entry per row, in order. Throws only when the database is away. */
  return async function prepare(rows: readonly ClaimedRow[]): Promise<Prepared[]> {
    const found = await loadContents(rows);
    const domains = [...found.values()].map((content) => ({
      projectId: content.project_id,
      domain: domainOf(content.from_address),
    }));
    const keys = await surroundings.findSigningKeys(domains);
    const contacts = await surroundings.readContacts(
      rows.flatMap((row) =>
        row.contact_id === null ? [] : [{ projectId: row.project_id, id: row.contact_id }],
      ),
    );
    const renderable = rows.flatMap((row) => {
      const content = found.get(contentKey(row));
      return content === undefined ? [] : [{ row, content }];
    });
    const rendered = await renderer.render(
      renderable.map(({ row, content }) => ({
        contentKey: contentKey(row),
        content,
        variables: variablesOf(row, contacts.get(row.contact_id ?? ""), surroundings),
      })),
    );
    const results = new Map(renderable.map(({ row }, at) => [row, rendered[at]]));
    return Promise.all(
      rows.map(async (row): Promise<Prepared> => {
        const content = found.get(contentKey(row));
        if (content === undefined)
          return { kind: "failed", row, reason: "The content of the mail is missing." };
        const key = keys.get(`${row.project_id} ${domainOf(content.from_address)}`);
        return prepareOne(row, content, key, results.get(row)).catch((error: unknown) => ({
          kind: "failed" as const,
          row,
          reason: `The message could not be built: ${error instanceof Error ? error.message : String(error)}`,
        }));
      }),
    );
  };
}

const contentKey = (row: ClaimedRow) => `${row.project_id} ${row.content_id}`;
const addressOf = (mailbox: Mailbox) => mailbox.address;

function named({ address, name }: Mailbox): NamedMailbox {
  return name === null ? { address } : { address, name };
}

/** RFC 3834: says that no person wrote this, so that no machine answers it. A caller may say otherwise. */
function messageHeaders(custom: ReadonlyArray<{ name: string; value: string }>) {
  const hasOwn = custom.some(({ name }) => name.toLowerCase() === "auto-submitted");
  return hasOwn ? custom : [...custom, { name: "Auto-Submitted", value: "auto-generated" }];
}

/** Every data key at the top and under `data.`, then what the service knows itself, which no data can replace. */
function variablesOf(
  row: ClaimedRow,
  contact: { email: string; subscribed: boolean; data: Record<string, unknown> } | undefined,
  surroundings: Surroundings,
) {
  const data = { ...contact?.data, ...(row.variables as Record<string, unknown> | null) };
  return {
    ...data,
    data,
    email: contact?.email ?? row.to_address,
    id: row.contact_id,
    subscribed: contact?.subscribed ?? false,
    locale: data["locale"] ?? null,
    ...(row.contact_id === null ? {} : surroundings.linksOf(row.project_id, row.contact_id)),
  };
}
