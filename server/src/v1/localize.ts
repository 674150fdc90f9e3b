// Makes the content of each email of a batch, in the language of its recipient (docs/decisions/0144-variants-of-templates.md).
import type { Tx } from "../platform/database/database.ts";
import { pairUp } from "../platform/pair-up.ts";
import { makeContent, type EmailContent, type Mailbox } from "../emails/outbox/emails.ts";
import type { DataPatch } from "../contacts/rules.ts";
import { chooseVariants, type WishedVariant } from "../templates/choose-variant.ts";
import type { SendableTemplate } from "../templates/templates.ts";
import { createTextsFrom, type Draft, type DraftedCall } from "./draft-content.ts";
import { findLocales } from "./queries.ts";

interface LocalizedCall extends Pick<DraftedCall, "projectId" | "parts"> {
  isTest: boolean;
  patch: DataPatch;
}

/** An accepted call with its content and sender. */
export interface Plan<Call extends LocalizedCall = LocalizedCall> {
  item: Call;
  draft: Draft;
  from: Mailbox;
}

/** One email of a call. Its contact is already stored. */
interface PlannedEmail {
  plan: Plan;
  contactId: string;
}

/** Returns the contents in order. Emails of one call with the same language share one. Reads nothing if no template has a variant. */
export async function makeContents(tx: Tx, emails: readonly PlannedEmail[]): Promise<EmailContent[]> {
  const chosen = await chooseTemplates(tx, emails);
  const textsFrom = createTextsFrom();
  const made = new Map<Plan, Map<string | null, EmailContent>>();
  return pairUp(emails, chosen).map(([{ plan }, template]) => {
    const ofPlan = made.get(plan) ?? new Map<string | null, EmailContent>();
    made.set(plan, ofPlan);
    const locale = template?.locale ?? null;
    const content = ofPlan.get(locale) ?? contentOf(plan, locale === null ? null : template, textsFrom);
    ofPlan.set(locale, content);
    return content;
  });
}

/** Returns the template of each email, with the content of its variant. Null without a template. */
async function chooseTemplates(
  tx: Tx,
  emails: readonly PlannedEmail[],
): Promise<Array<SendableTemplate | null>> {
  const asked = emails.filter(({ plan }) => hasVariants(plan));
  if (asked.length === 0) return emails.map(({ plan }) => plan.draft.template);
  const stored = await readStoredLocales(tx, asked);
  const wishes = asked.flatMap(({ plan, contactId }): WishedVariant[] => {
    const { draft, item } = plan;
    const own = ownLocale(item);
    const wish = own === undefined ? stored.get(`${item.projectId} ${contactId}`) : own;
    return draft.template === null ? [] : [{ template: draft.template, wish }];
  });
  const chosen = new Map(pairUp(asked, await chooseVariants(tx, wishes)));
  return emails.map((email) => chosen.get(email) ?? email.plan.draft.template);
}

/** Returns whether the language can change the content. A call with its own subject and body is in its own language. */
function hasVariants({ item: { parts }, draft: { template } }: Plan): boolean {
  return template !== null && template.locales.length > 0 && (parts.subject === null || parts.html === null);
}

/** Returns the language that the call gives to its emails, undefined without one. Rendering merges the data in the same order. */
function ownLocale({ patch: { set, transient } }: LocalizedCall): unknown {
  return Object.hasOwn(transient, "locale") ? transient["locale"] : set["locale"];
}

async function readStoredLocales(tx: Tx, emails: readonly PlannedEmail[]): Promise<Map<string, string>> {
  const keys = emails.flatMap(({ plan: { item }, contactId }) =>
    ownLocale(item) === undefined ? [{ projectId: item.projectId, contactId }] : [],
  );
  const rows = keys.length === 0 ? [] : await findLocales(tx, keys);
  return new Map(rows.map(({ projectId, contactId, locale }) => [`${projectId} ${contactId}`, locale]));
}

/** @param variant null for the content of the draft */
function contentOf(
  { item, draft, from }: Plan,
  variant: SendableTemplate | null,
  textsFrom: ReturnType<typeof createTextsFrom>,
): EmailContent {
  const { textsHash, template: _template, ...said } = draft;
  const { hash, ...texts } = variant === null ? { hash: textsHash } : textsFrom(variant, item.parts);
  const ofTest = item.isTest ? { tracked: false, listKind: null } : {};
  return makeContent({ ...said, ...texts, from, locale: variant?.locale ?? null, ...ofTest }, hash);
}
