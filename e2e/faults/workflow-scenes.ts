// Parts of the fault cases of workflows: building one, waiting for its end, and comparing emails with the journal.
import { waitUntil } from "../wait-until.ts";
import { emailIdOf } from "./evidence.ts";
import type { FaultRow } from "./fault-case.ts";
import { DOMAIN, type Environment } from "./environment.ts";

const END_TIMEOUT_MS = 120_000;

export interface Step {
  key: string;
  type: string;
  name: string;
  config: object;
}

/** Imports and enables a workflow. @returns its id */
export async function addWorkflow(
  environment: Environment,
  { trigger, steps, links }: { trigger: object; steps: Step[]; links: Array<[string, string, string?]> },
): Promise<string> {
  const { id } = await environment.insist<{ id: string }>("/workflows/import", {
    format: "postloft.workflow",
    formatVersion: 1,
    name: "Greetings",
    description: null,
    allowReentry: false,
    ...trigger,
    steps: steps.map((step) => ({ ...step, position: null })),
    transitions: links.map(([from, to, branch = null]) => ({ from, to, branch, priority: 0 })),
    templates: [],
    segments: [],
  });
  const enabled = await environment.api().call("PATCH", `/workflows/${id}`, { enabled: true });
  if (enabled.status !== 200)
    throw new Error(`the workflow cannot be enabled: ${JSON.stringify(enabled.body)}`);
  return id;
}

export const start: Step = { key: "start", type: "TRIGGER", name: "start", config: {} };

/** Creates a template. @returns a function that makes a step which sends it */
export async function addMail(environment: Environment): Promise<(key: string) => Step> {
  const { id: templateId } = await environment.insist<{ id: string }>("/templates", {
    name: "Greeting",
    subject: "Hello {{name}}",
    body: "<p>Hello {{name}}</p>",
    type: "TRANSACTIONAL",
    from: `us@${DOMAIN}`,
  });
  return (key) => ({ key, type: "SEND_EMAIL", name: key, config: { templateId } });
}

export const countOf = async (environment: Environment, text: string, ...values: string[]): Promise<number> =>
  (await environment.query<{ count: number }>(`select count(*)::int as count from ${text}`, values))[0]
    ?.count ?? 0;

export const countEnded = (environment: Environment, workflowId: string) =>
  countOf(environment, "workflow_executions where workflow_id = $1 and ended_at is not null", workflowId);

const countOpenMails = (environment: Environment) =>
  countOf(environment, "emails where status in ('QUEUED', 'CLAIMED')");

/** Waits until this many executions and all emails have ended. */
export async function waitForAll(
  environment: Environment,
  workflowId: string,
  people: number,
): Promise<void> {
  await waitUntil(
    "the end of all executions",
    END_TIMEOUT_MS,
    async () => (await countEnded(environment, workflowId)) === people,
  );
  await waitUntil(
    "the end of all emails",
    END_TIMEOUT_MS,
    async () => (await countOpenMails(environment)) === 0,
  );
}

/** Checks that each of the people got this many emails, each accepted once or in doubt. */
export async function faultsOfMails(
  environment: Environment,
  { people, each, mayBeInDoubt }: { people: number; each: number; mayBeInDoubt: number },
): Promise<string[]> {
  const mails = await environment.query<{ id: string; toAddress: string; status: string }>(
    "select id, to_address, status from emails",
  );
  const perPerson = Map.groupBy(mails, (mail) => mail.toAddress);
  const taken = Map.groupBy(environment.sink.journal, ({ messageId }) => emailIdOf(messageId));
  const inDoubt = mails.filter(({ status }) => status === "UNCONFIRMED");
  const wrong = mails.filter(({ id, status }) => {
    const times = taken.get(id)?.length ?? 0;
    return status === "SENT" ? times !== 1 : status !== "UNCONFIRMED" || times > 1;
  });
  const uneven = [...perPerson.values()].filter((own) => own.length !== each).length;
  return [
    ...(perPerson.size === people ? [] : [`${perPerson.size} of ${people} people have emails`]),
    ...(uneven === 0 ? [] : [`${uneven} people do not have ${each} emails`]),
    ...wrong.map(
      ({ id, status }) => `the email ${id} is ${status} and was accepted ${taken.get(id)?.length ?? 0} times`,
    ),
    ...(inDoubt.length <= mayBeInDoubt ? [] : [`${inDoubt.length} emails are in doubt`]),
  ];
}

export async function rowOf(
  environment: Environment,
  name: string,
  faults: readonly string[],
): Promise<FaultRow> {
  const mails = await environment.query<{ status: string }>("select status from emails");
  const count = (status: string) => mails.filter((mail) => mail.status === status).length;
  const twice = [...Map.groupBy(environment.sink.journal, ({ messageId }) => messageId).values()];
  return {
    name,
    recipients: await countOf(environment, "contacts"),
    kills: environment.faultsAt.length,
    sent: count("SENT"),
    failed: count("FAILED") + count("SKIPPED"),
    unconfirmed: count("UNCONFIRMED"),
    twice: twice.filter((taken) => taken.length > 1).length,
    lost: mails.length - count("SENT") - count("UNCONFIRMED") - count("FAILED") - count("SKIPPED"),
    recoveryMs: null,
    faults,
  };
}
