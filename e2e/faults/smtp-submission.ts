// Kills every process while clients submit messages over SMTP and repeat those without a reply. Each message is one email.
import { createTransport } from "nodemailer";
import { createApiClient, type EmailItem } from "../api-client.ts";
import { ACCOUNT, SECRET_KEY } from "../program.ts";
import { freePort } from "../../server/src/testing/free-port.ts";
import { waitUntil } from "../wait-until.ts";
import { addressOf, DOMAIN, startEnvironment, type Environment } from "./environment.ts";
import { complain, countMails } from "./evidence.ts";
import type { FaultCase, FaultRow, FaultRun } from "./fault-case.ts";
import { faultsOfPrograms } from "./oracle.ts";

const MESSAGES = { small: 2_000, large: 10_000 };
const KILLS = { small: 5, large: 20 };
const CLIENTS = 32;
const PROGRESS_TIMEOUT_MS = 120_000;
/** A start of all processes, on a busy machine. */
const REPLY_TIMEOUT_MS = 120_000;
const END_TIMEOUT_MS = 600_000;
const ENDED = new Set(["SENT", "UNCONFIRMED", "FAILED", "SKIPPED"]);

export const smtpSubmission: FaultCase = {
  name: "smtp-submission",
  shows:
    "kills of all processes while clients submit and repeat messages; each accepted message is sent once or is in doubt",
  run: async (run) => [await play(run)],
};

/** The messages that clients submit, and those that got 250. */
interface Submissions {
  count: number;
  accepted: Set<number>;
  /** Connections that broke, and replies that asked to try again. */
  repeats: number;
}

async function play({ size, random }: FaultRun): Promise<FaultRow> {
  const [count, kills] = [MESSAGES[size], KILLS[size]];
  const port = await freePort();
  const environment = await startEnvironment({
    database: "own",
    settings: { SUBMISSION_PORT: String(port) },
  });
  try {
    const { url } = await environment.start();
    const user = await neverRepeat(url);
    const submissions: Submissions = { count, accepted: new Set(), repeats: 0 };
    const submitting = submitAll(submissions, { port, user });
    for (let kill = 1; kill <= kills; kill++) {
      const enough = submissions.accepted.size + 1 + Math.floor((random() * count) / kills);
      await waitUntil(
        `messages before kill ${kill}`,
        PROGRESS_TIMEOUT_MS,
        () => submissions.accepted.size >= Math.min(enough, count - CLIENTS),
      );
      await environment.killAll();
      await environment.start();
    }
    await submitting;
    await waitUntil("the last email", END_TIMEOUT_MS, async () =>
      (await listEmails(environment)).every(({ status }) => ENDED.has(status)),
    );
    return await judge(environment, submissions, kills);
  } finally {
    await environment.close();
  }
}

/**
 * Makes the project wait with emails in doubt, which it would otherwise send a second time under the same Message-ID
 * (docs/decisions/0031-emails-in-doubt.md). Returns its id.
 */
async function neverRepeat(url: string): Promise<string> {
  const { headers } = await createApiClient(url, {}).call("POST", "/auth/login", ACCOUNT);
  const asOwner = createApiClient(url, { cookie: headers.get("set-cookie")?.split(";")[0] ?? "" });
  const [project] = await asOwner.get<Array<{ id: string }>>("/users/@me/projects");
  const id = project?.id ?? "";
  const { status } = await asOwner.call("PATCH", `/users/@me/projects/${id}`, { whenInDoubt: "WAIT" });
  if (status !== 200) throw new Error(`The change of the project returned ${status}.`);
  return id;
}

/** Submits every message until it is accepted, under one Message-ID. */
async function submitAll(submissions: Submissions, to: { port: number; user: string }): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let number = next++; number < submissions.count; number = next++) {
        const reply = await waitUntil(`a reply to message ${number}`, REPLY_TIMEOUT_MS, async () => {
          const got = await submitOnce(to, number);
          if (got === "" || got.startsWith("4")) submissions.repeats++;
          else return got;
        });
        if (!reply.startsWith("250")) throw new Error(`Message ${number} was rejected: ${reply}`);
        submissions.accepted.add(number);
      }
    }),
  );
}

/** Returns the last reply to a message, or an empty text if the connection broke. */
async function submitOnce({ port, user }: { port: number; user: string }, number: number): Promise<string> {
  const client = createTransport({ host: "127.0.0.1", port, auth: { user, pass: SECRET_KEY } });
  try {
    const { response } = await client.sendMail({
      messageId: `<${number}@shop.example>`,
      from: `shop@${DOMAIN}`,
      to: addressOf(number),
      subject: `Order ${number}`,
      text: "Thank you for your order.",
    });
    return response;
  } catch (error) {
    return (error as { response?: string }).response ?? "";
  } finally {
    client.close();
  }
}

const listEmails = (environment: Environment) => environment.api().listAll<EmailItem>("/emails");

async function judge(
  environment: Environment,
  { count, repeats }: Submissions,
  kills: number,
): Promise<FaultRow> {
  const emails = await listEmails(environment);
  const mails = countMails(environment.sink.journal);
  const wanted = Array.from({ length: count }, (_, number) => addressOf(number));
  const withStatus = (status: string) => emails.filter((email) => email.status === status);
  const stored = Map.groupBy(emails, ({ to }) => to);
  const lost = wanted.filter(
    (address) => !mails.has(address) && stored.get(address)?.[0]?.status !== "UNCONFIRMED",
  );
  const twice = [...mails].filter(([, times]) => times > 1).map(([address]) => address);
  const unsent = [...withStatus("FAILED"), ...withStatus("SKIPPED")];
  const mayBeInDoubt = kills * environment.connections;
  const inDoubt = withStatus("UNCONFIRMED").length;
  const faults = [
    ...complain(lost, "accepted messages were not sent"),
    ...complain(twice, "recipients were mailed more than once"),
    ...complain(
      wanted.filter((address) => stored.get(address)?.length !== 1),
      "messages are not exactly one email",
    ),
    ...complain(
      unsent.map(({ to, status }) => `${to} ${status}`),
      "emails were not sent",
    ),
    ...(inDoubt <= mayBeInDoubt
      ? []
      : [`${inDoubt} emails are in doubt, but at most ${mayBeInDoubt} may be`]),
    ...(repeats > 0 ? [] : ["no client repeated a message, so the kills proved nothing"]),
    ...faultsOfPrograms(environment),
  ];
  return {
    name: `smtp-submission × ${kills}`,
    recipients: count,
    kills: environment.faultsAt.length,
    sent: withStatus("SENT").length,
    failed: unsent.length,
    unconfirmed: inDoubt,
    twice: twice.length,
    lost: lost.length,
    recoveryMs: null,
    faults,
  };
}
