// A campaign as usually written: for each recipient a Handlebars rendering, tracked links, a row, nodemailer and an update.
import { createHmac } from "node:crypto";
import Handlebars from "handlebars";
import { sql } from "kysely";
import { createPool } from "../server/src/platform/database/database.ts";
import { newId } from "../server/src/platform/ids.ts";
import { createLog } from "../server/src/platform/log.ts";
import { HTML, SUBJECT } from "./content.ts";
import { openNodemailer, plainText } from "./nodemailer-pool.ts";
import type { MailEnvironment } from "./mail-fixture.ts";
import { SENDER_DOMAIN } from "./outbox.ts";
import { CONNECTIONS } from "./sink.ts";

/** The first emails are not counted, because they run code that is not compiled yet. */
export const WARM_UP = 200;
const TABLE = `create table plain_mails (id uuid primary key, contact_id uuid not null, to_address text not null,
  subject text not null, html text not null, status text not null, created_at timestamptz not null default now(), sent_at timestamptz)`;
const INSERT = {
  name: "insert",
  text: "insert into plain_mails (id, contact_id, to_address, subject, html, status) values ($1, $2, $3, $4, $5, 'SENDING')",
};
const UPDATE = {
  name: "update",
  text: "update plain_mails set status = 'SENT', sent_at = now() where id = $1",
};

export interface PlainResult {
  recipients: number;
  tookMs: number;
  cpuMsPerMail: number;
}

const TRACKER = "https://mail.example.com";
const SECRET = "a secret of the tracker";

/** Replaces each link with a signed one and adds a pixel, per email and with a simple regular expression. */
function track(html: string, mailId: string): string {
  let number = 0;
  const tokenOf = (at: number) =>
    `${mailId}.${at}.${createHmac("sha256", SECRET).update(`${mailId}.${at}`).digest("base64url")}`;
  return html
    .replace(
      /href="(https?:[^"]+)"/g,
      (_all, target: string) => `href="${TRACKER}/c/${tokenOf(++number)}?u=${encodeURIComponent(target)}"`,
    )
    .replace("</body>", `<img src="${TRACKER}/o/${tokenOf(0)}" width="1" height="1" alt=""></body>`);
}

/** Sends to every contact of the project, with one loop per connection. */
export async function sendPlainly(
  { bench, outbox, sink }: MailEnvironment,
  projectId: string,
  isTracked: boolean,
): Promise<PlainResult> {
  const { rows: contacts } = await sql<{ id: string; email: string; data: object }>`
    select id, email, data from contacts where project_id = ${projectId}`.execute(outbox.database);
  // Handlebars has no fallback values.
  const template = Handlebars.compile(HTML.replace(' ?? "there"', ""));
  const log = createLog({ level: "silent" });
  const pool = createPool({ connection: bench.connection, maxConnections: CONNECTIONS, log });
  const nodemailer = openNodemailer(sink, outbox);
  async function sendOne({ id: contactId, email, data }: (typeof contacts)[number]): Promise<void> {
    const id = newId();
    const html = isTracked ? track(template(data), id) : template(data);
    await pool.query({ ...INSERT, values: [id, contactId, email, SUBJECT, html] });
    const from = `news@${SENDER_DOMAIN}`;
    await nodemailer.sendMail({ from, to: email, subject: SUBJECT, html, text: plainText(html) });
    await pool.query({ ...UPDATE, values: [id] });
  }
  async function sendAll(recipients: typeof contacts): Promise<void> {
    const waiting = recipients.values();
    const loops = Array.from({ length: CONNECTIONS }, async () => {
      for (const contact of waiting) await sendOne(contact);
    });
    await Promise.all(loops);
  }
  try {
    await pool.query(TABLE);
    await sendAll(contacts.slice(0, WARM_UP));
    const counted = contacts.slice(WARM_UP);
    const startedMs = performance.now();
    const cpuBefore = process.cpuUsage();
    await sendAll(counted);
    const tookMs = performance.now() - startedMs;
    const cpu = process.cpuUsage(cpuBefore);
    const cpuMsPerMail = (cpu.user + cpu.system) / 1_000 / counted.length;
    return { recipients: counted.length, tookMs, cpuMsPerMail };
  } finally {
    nodemailer.close();
    await pool.end();
  }
}
