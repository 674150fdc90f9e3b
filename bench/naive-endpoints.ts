// Track and send as usually written: each request runs its own parameterized statements on any free connection.
import type { z } from "zod";
import type pg from "pg";
import type { SendBody, track } from "@postloft/contract/v1.ts";
import { newId } from "../server/src/platform/ids.ts";

const FIND_CONTACT = {
  name: "find",
  text: "select id from contacts where project_id = $1 and email = $2",
};
const UPDATE_CONTACT = {
  name: "update",
  text: "update contacts set data = data || $3, updated_at = now() where project_id = $1 and id = $2",
};
const INSERT_CONTACT = {
  name: "insert",
  text: "insert into contacts (project_id, id, email, subscribed, data) values ($1, $2, $3, true, $4)",
};
const INSERT_EVENT = {
  name: "event",
  text: "insert into events (project_id, id, contact_id, name, data) values ($1, $2, $3, $4, $5)",
};

/** Builds a query: named and thus prepared once per connection, or unnamed as in most programs. */
export type Ask = (statement: { name: string; text: string }, values: unknown[]) => pg.QueryConfig;

export const askPrepared: Ask = (statement, values) => ({ ...statement, values });
export const askUnprepared: Ask = ({ text }, values) => ({ text, values });

/** Runs three statements: select the contact, update or insert the contact, insert the event. */
export async function naiveTrack(
  pool: pg.Pool,
  ask: Ask,
  projectId: string,
  body: z.output<typeof track.body>,
) {
  const data = JSON.stringify(body.data ?? {});
  const { rows } = await pool.query<{ id: string }>(ask(FIND_CONTACT, [projectId, body.email]));
  const contactId = rows[0]?.id ?? newId();
  if (rows[0] === undefined) await pool.query(ask(INSERT_CONTACT, [projectId, contactId, body.email, data]));
  else await pool.query(ask(UPDATE_CONTACT, [projectId, contactId, data]));
  const eventId = newId();
  await pool.query(ask(INSERT_EVENT, [projectId, eventId, contactId, body.event, data]));
  return { contact: contactId, event: eventId, timestamp: new Date().toISOString() };
}

const UPSERT_CONTACT = {
  name: "upsert",
  text: `insert into contacts as c (project_id, id, email, subscribed, data) values ($1, $2, $3, false, $4)
    on conflict (project_id, email) do update set data = c.data || excluded.data, updated_at = now() returning id`,
};
const INSERT_CONTENT = {
  name: "content",
  text: "insert into email_contents (project_id, id, from_address, subject, html) values ($1, $2, $3, $4, $5)",
};
const INSERT_EMAIL = {
  name: "email",
  text: "insert into emails (project_id, id, contact_id, content_id, priority, to_address) values ($1, $2, $3, $4, 1, $5)",
};

/** Runs one transaction: for each recipient upsert the contact, insert the content, insert the email. */
export async function naiveSend(pool: pg.Pool, ask: Ask, projectId: string, body: SendBody) {
  const contentId = newId();
  const emails: Array<{ contact: { id: string; email: string }; email: string }> = [];
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query(
      ask(INSERT_CONTENT, [projectId, contentId, body.from?.address, body.subject, body.body]),
    );
    for (const { address } of body.to) {
      const data = JSON.stringify(body.data ?? {});
      const { rows } = await client.query<{ id: string }>(
        ask(UPSERT_CONTACT, [projectId, newId(), address, data]),
      );
      const [emailId, contactId = ""] = [newId(), rows[0]?.id];
      await client.query(ask(INSERT_EMAIL, [projectId, emailId, contactId, contentId, address]));
      emails.push({ contact: { id: contactId, email: address }, email: emailId });
    }
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
  return { emails, timestamp: new Date().toISOString() };
}
