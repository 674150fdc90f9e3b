// SQL fragments that read sent emails as `email.sent` events (docs/decisions/0025).
import { sql, type RawBuilder, type SqlBool } from "kysely";
import { EMAIL_KINDS } from "@postloft/contract/emails.ts";
import { SUBJECT } from "./shown-queries.ts";

export const MAIL_FACTS = sql`jsonb_strip_nulls(jsonb_build_object(
  'subject', ${SUBJECT}, 'from', c.from_address,
  'messageId', coalesce(c.message_id, e.id || '@' || split_part(c.from_address, '@', -1)), 'emailId', e.id,
  'sourceType', (${EMAIL_KINDS}::text[])[e.priority], 'campaignId', e.campaign_id, 'workflowId', e.workflow_id, 'templateId', e.template_id, 'tags', e.tags,
  'metadata', e.metadata))`;

/** The index `emails_sent` uses this order. */
export const SENT_EVENT_ID = sql`sent_event_id(e.id, e.sent_at)`;

/** Returns the first event id at an instant. There are no events before 1970. */
export function firstIdAt(instant: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`sent_event_id('00000000-0000-0000-0000-000000000000', greatest(${instant}, timestamptz 'epoch'))`;
}

export function isSentEvent(since: RawBuilder<unknown> | null): RawBuilder<SqlBool> {
  const ever = sql<SqlBool>`e.sent_at is not null and e.contact_id is not null`;
  return since === null
    ? ever
    : sql<SqlBool>`${ever} and ${SENT_EVENT_ID} >= ${firstIdAt(since)} and e.sent_at >= ${since}`;
}
