// Plans the emails that steps may send: contents in the languages of the contacts, the sender, or why an email can't be sent.
import { domainOf, parseMailbox } from "@postloft/contract/address.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import type { Database, Tx } from "../../platform/database/database.ts";
import { pairUp } from "../../platform/pair-up.ts";
import { makeContent, type Mailbox } from "../../emails/outbox/emails.ts";
import { readDefaultSenders } from "../../projects/default-senders.ts";
import { readRoom } from "../../billing/caps.ts";
import type { Domains } from "../../domains/domains.ts";
import type { FilterContact } from "../../segments/filters/evaluate-filter.ts";
import { chooseVariants } from "../../templates/choose-variant.ts";
import { readTemplates, type SendableTemplate } from "../../templates/templates.ts";
import { sentParts } from "../../templates/sent-parts.ts";
import { templateIdOf } from "../references.ts";
import { stepOf, type Execution } from "./execution.ts";
import type { MailPlan, SendablePlan } from "./steps/step.ts";

interface PlansAsked {
  projectId: string;
  domains: Domains;
  mails: readonly PlannedMail[];
}

/** A template and the language of its recipient, as any value. */
interface PlannedMail {
  templateId: string;
  locale: unknown;
}

/** Returns the email that the current step of an execution may send. */
export function mailOf(execution: Execution, contacts: ReadonlyMap<string, FilterContact>): PlannedMail[] {
  const step = stepOf(execution);
  const templateId = step === undefined ? null : templateIdOf(step);
  if (templateId === null) return [];
  return [{ templateId, locale: contacts.get(execution.contactId ?? "")?.data["locale"] }];
}

/** Like `readMailPlans`, but skips all emails once the monthly cap is reached. One batch of executions may exceed the cap. */
export async function readPlansWithinCap(tx: Tx, asked: PlansAsked): Promise<Map<string, MailPlan>> {
  const plans = await readMailPlans(tx, asked);
  const isFull = plans.size > 0 && (await readRoom(tx, asked.projectId, "workflows")) === 0;
  return isFull
    ? new Map([...plans.keys()].map((id) => [id, { skipped: recordedReason("capReached") }]))
    : plans;
}

/** Returns the contents and sender of emails by template. Deleted templates are missing. */
export async function readMailPlans(
  database: Database,
  { projectId, domains, mails }: PlansAsked,
): Promise<Map<string, MailPlan>> {
  if (mails.length === 0) return new Map();
  const ids = [...new Set(mails.map(({ templateId }) => templateId))];
  const found = await readTemplates(
    database,
    ids.map((id) => ({ projectId, id })),
  );
  const templates = [...found.values()];
  const hasSilent = templates.some(({ fromAddress: from }) => from === null);
  const defaults = hasSilent ? await readDefaultSenders(database, [projectId]) : new Map<string, string>();
  const senders = templates.map((template) => senderOf(template, defaults.get(projectId)));
  const names = senders.flatMap((sender) =>
    sender === null ? [] : [{ projectId, domain: domainOf(sender.address) }],
  );
  const keys = await domains.findSigningKeys(names, database);
  const wishes = mails.flatMap(({ templateId, locale }) => {
    const template = found.get(`${projectId} ${templateId}`);
    return template === undefined ? [] : [{ template, wish: locale }];
  });
  const variants = new Set(await chooseVariants(database, wishes));
  return new Map(
    pairUp(templates, senders).map(([template, sender]): [string, MailPlan] => {
      if (sender === null) return [template.id, { problem: recordedReason("noSender") }];
      const domain = domainOf(sender.address);
      const key = keys.get(`${projectId} ${domain}`);
      if (key === undefined || key.kind === "refused")
        return [template.id, { problem: recordedReason("domainNotVerified", { domain }) }];
      const own = [...variants].filter(({ id, locale }) => id === template.id && locale !== null);
      return [template.id, planOf(template, own, sender)];
    }),
  );
}

function senderOf(template: SendableTemplate, projectDefault: string | undefined): Mailbox | null {
  const { fromAddress: address, fromName: name } = template;
  if (address !== null) return { address, name };
  const parsed = projectDefault === undefined ? null : parseMailbox(projectDefault);
  return parsed?.ok === true ? { address: parsed.address, name: name ?? parsed.name ?? null } : null;
}

function planOf(
  template: SendableTemplate,
  variants: readonly SendableTemplate[],
  from: Mailbox,
): SendablePlan {
  const { id: templateId, type, locales } = template;
  return {
    templateId,
    goesToSubscribers: type !== "TRANSACTIONAL",
    locales,
    content: contentOf(template, from),
    variants: new Map(variants.map((variant) => [variant.locale ?? "", contentOf(variant, from)])),
  };
}

function contentOf(template: SendableTemplate, from: Mailbox) {
  const { projectId, type, subject, replyTo, locale } = template;
  const listKind = type === "TRANSACTIONAL" ? null : type;
  const rest = { headers: [], attachments: [], listKind, locale };
  return makeContent({ projectId, from, replyTo, subject, ...sentParts(template), ...rest });
}
