// POST /v1/send: everything is checked, then contacts, content and mails of many calls are written in one transaction.
// Before it: routes.ts; contract/v1.ts refused what is malformed. After it: rows in the outbox; the sender is woken.
import { LRUCache } from "lru-cache";
import { domainOf, parseMailbox } from "@postloft/contract/address.ts";
import type { SendBody } from "@postloft/contract/v1.ts";
import type { FieldError } from "@postloft/contract/errors.ts";
import { surelyRolledBack, transaction, type Database, type Tx } from "../platform/database.ts";
import { createGroupCommit } from "../platform/group-commit.ts";
import { storeReceipts, type Receipt } from "../platform/idempotency.ts";
import { Refusal, invalidField } from "../platform/refusal.ts";
import { enqueueEmails, hashTexts, makeContent, type EmailContent, type Mailbox } from "../emails/emails.ts";
import type { Renderer } from "../emails/rendering/renderer.ts";
import { readDefaultSenders } from "../projects/projects.ts";
import type { Domains } from "../domains/domains.ts";
import { contactRefusal } from "../contacts/contacts.ts";
import { readDataPatch, type DataPatch } from "../contacts/rules.ts";
import { upsertContacts } from "../contacts/upsert-contacts.ts";
import { laneOf, optional } from "./lane.ts";

export interface SendRequest {
  projectId: string;
  body: SendBody;
  receipt: Receipt | null;
}

export interface SendAnswer {
  emails: Array<{ contact: { id: string; email: string }; email: string }>;
  timestamp: string;
}

/** Two batches in flight: one fills while the other commits. Calls to the same address share a lane. */
const LANES = 2;
/** Calls can be large; this many of them are held in one batch. */
const MAX_BATCH = 50;
const MAX_CHECKED_CONTENTS = 2_000;

/** The content without its sender, which a project setting may still decide. */
type Draft = Omit<EmailContent, "id" | "from">;

interface Item extends SendRequest {
  draft: Draft;
  textsHash: string;
  patch: DataPatch;
}

export function createSendDoor(options: {
  database: Database;
  renderer: Renderer;
  domains: Domains;
  /** Called after the commit: mails wait. */
  wakeSender: () => void;
}): (request: SendRequest) => Promise<SendAnswer> {
  const { database, renderer, domains } = options;
  /** Texts whose templates were found right, by hash: a caller that sends the same text again is not checked again. */
  const checked = new LRUCache<string, true>({ max: MAX_CHECKED_CONTENTS });

  async function checkTemplates(draft: Draft, textsHash: string): Promise<void> {
    if (![draft.subject, draft.html, draft.text ?? ""].some((part) => part.includes("{{"))) return;
    if (checked.has(textsHash)) return;
    const problems = await renderer.check(draft);
    if (problems.length > 0) throw new Refusal("VALIDATION_ERROR", { fields: problems.map(fieldErrorOf) });
    checked.set(textsHash, true);
  }

  const commits = createGroupCommit<Item, SendAnswer>({
    lanes: LANES,
    laneOf: ({ projectId, body }) => laneOf(projectId + (body.to.length === 1 ? body.to[0]?.address : "")),
    maxItems: MAX_BATCH,
    run: (items) => transaction(database, (tx) => sendAll(tx, items, domains)),
    hadNoEffect: surelyRolledBack,
  });

  return async (request) => {
    // No template can be there before templates are; an unknown one is answered like any missing thing.
    if (request.body.template !== undefined) throw new Refusal("TEMPLATE_NOT_FOUND");
    const draft = makeDraft(request);
    const textsHash = hashTexts(draft);
    await checkTemplates(draft, textsHash);
    const answer = await commits
      .submit({ ...request, draft, textsHash, patch: readDataPatch(request.body.data) })
      .catch((error: unknown) => {
        throw contactRefusal(error) ?? error;
      });
    options.wakeSender();
    return answer;
  };
}

function fieldErrorOf(problem: { field: string; line: number; column: number; message: string }): FieldError {
  const field = problem.field === "html" ? "body" : problem.field;
  return {
    field,
    code: "custom",
    message: `Line ${problem.line}, column ${problem.column}: ${problem.message}`,
  };
}

function makeDraft({ projectId, body }: SendRequest): Draft {
  const headers = Object.entries(body.headers ?? {}).map(([name, value]) => ({ name, value }));
  const replyHeader = headers.find(({ name }) => name.toLowerCase() === "reply-to");
  const fromHeader = replyHeader === undefined ? null : parseMailbox(replyHeader.value);
  if (fromHeader?.ok === false) throw invalidField("headers.Reply-To", "invalid_string", fromHeader.reason);
  return {
    projectId,
    replyTo: body.reply ?? body.replyTo ?? fromHeader?.address ?? null,
    subject: body.subject ?? "",
    html: body.body ?? "",
    text: body.text ?? null,
    headers: headers.filter((header) => header !== replyHeader),
    attachments: (body.attachments ?? []).map((attachment) => ({
      filename: attachment.filename,
      contentType: attachment.contentType ?? attachment.type ?? "application/octet-stream",
      contentId: attachment.contentId ?? null,
      disposition: attachment.disposition ?? "attachment",
      bytes: Buffer.from(attachment.content, "base64"),
    })),
  };
}

/** One answer per call, in order; a call that may not send from its domain is refused alone. */
async function sendAll(tx: Tx, items: readonly Item[], domains: Domains): Promise<Array<SendAnswer | Error>> {
  const timestamp = new Date().toISOString();
  const senders = await resolveSenders(tx, items, domains);
  const accepted = items.flatMap((item, at) => {
    const from = senders[at];
    return from === undefined || from instanceof Error
      ? []
      : [{ item, content: makeContent({ ...item.draft, from }, item.textsHash) }];
  });
  const recipients = accepted.flatMap(({ item, content }) =>
    item.body.to.map((to) => ({ item, content, to })),
  );
  const contacts = await upsertContacts(
    tx,
    recipients.map(({ item, to }) => ({
      projectId: item.projectId,
      email: to.address,
      ...optional("subscribed", item.body.subscribed),
      subscribedIfNew: false,
      patch: item.patch,
    })),
  );
  const ids = await enqueueEmails(
    tx,
    recipients.map(({ item, content, to }, at) => ({
      projectId: item.projectId,
      contactId: contacts[at]?.contactId ?? "",
      kind: "TRANSACTIONAL",
      to,
      copies: copiesOf(item.body),
      content,
      variables: { ...item.patch.set, ...item.patch.transient },
    })),
  );
  const answers = new Map(accepted.map(({ item }) => [item, { emails: [], timestamp } as SendAnswer]));
  recipients.forEach(({ item, to }, at) => {
    answers.get(item)?.emails.push({
      contact: { id: contacts[at]?.contactId ?? "", email: to.address },
      email: ids[at] ?? "",
    });
  });
  await storeReceipts(
    tx,
    [...answers].flatMap(([{ receipt }, body]) =>
      receipt === null ? [] : [{ receipt, answer: { status: 200, body } }],
    ),
  );
  return items.map((item, at) => {
    const sender = senders[at];
    return sender instanceof Error ? sender : (answers.get(item) ?? new Error("A call was not answered."));
  });
}

function copiesOf(body: SendBody) {
  const copies = { cc: body.cc ?? [], bcc: body.bcc ?? [] };
  return copies.cc.length + copies.bcc.length === 0 ? null : copies;
}

/** Who each call sends as: its own `from`, else the project's default; only from domains the project has verified. */
async function resolveSenders(
  tx: Tx,
  items: readonly Item[],
  domains: Domains,
): Promise<Array<Mailbox | Error>> {
  const silent = items.filter((item) => item.body.from === undefined).map((item) => item.projectId);
  const defaults = await readDefaultSenders(tx, [...new Set(silent)]);
  const senders = items.map(({ projectId, body }) => senderOf(body, defaults.get(projectId)));
  const names = senders.flatMap((sender, at) => {
    const projectId = items[at]?.projectId;
    return sender instanceof Error || projectId === undefined
      ? []
      : [{ projectId, domain: domainOf(sender.address) }];
  });
  const keys = await domains.findSigningKeys(names, tx);
  return senders.map((sender, at) => {
    if (sender instanceof Error) return sender;
    const domain = domainOf(sender.address);
    const key = keys.get(`${items[at]?.projectId} ${domain}`);
    if (key !== undefined && key.kind !== "refused") return sender;
    return new Refusal("DOMAIN_NOT_VERIFIED", {
      message: `The domain ${domain} is not verified in this project.`,
    });
  });
}

function senderOf(body: SendBody, projectDefault: string | undefined): Mailbox | Error {
  if (body.from !== undefined)
    return { address: body.from.address, name: body.from.name ?? body.name ?? null };
  const parsed = projectDefault === undefined ? null : parseMailbox(projectDefault);
  if (parsed?.ok !== true)
    return invalidField("from", "required", "Required: the project has no default sender.");
  return { address: parsed.address, name: parsed.name ?? body.name ?? null };
}
