// What `npm run doctor` looks at: one finding per thing, each a sentence and what to do about it. Nothing is changed.
import { verifyAuditLogs } from "../audit/audit-log.ts";
import { isConsentSealedLate, verifyConsentLogs } from "../contacts/consent-chain/verify-consent.ts";
import { inspectDomains } from "../domains/inspect-domains.ts";
import { recountSample } from "../events/recount.ts";
import { now } from "../platform/clock.ts";
import { createDns } from "../platform/dns.ts";
import { readMigrations } from "../platform/database/migrations.ts";
import { diskFinding, lookAtDisks } from "./doctor-disk.ts";
import type { DoctorParts, Finding, Look } from "./finding.ts";
import { readReadiness } from "./health.ts";
import { listAppliedMigrations, readServer } from "./queries.ts";

const OLDEST_POSTGRES = 15;
const CLOCK_WARNING_MS = 2_000;
const CLOCK_PROBLEM_MS = 30_000;
const REACH_TIMEOUT_MS = 8_000;
const INSPECTED_DOMAINS = 50;
const RECOUNTED_PROJECTS = 5;
const RECOUNTED_MS = 7 * 86_400_000;

/**
 * Looks at everything, in the order in which one thing rests on another. What cannot be looked at is a problem.
 *
 * @throws whatever keeps it from the database: then there is nothing else to look at
 */
export async function examine(parts: DoctorParts): Promise<Finding[]> {
  const findings = await lookAtDatabase(parts);
  for (const [check, look] of Object.entries(LOOKS)) {
    try {
      findings.push(...[await look(parts)].flat());
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      findings.push({ check, state: "problem", message: `It could not be looked at: ${message}.` });
    }
  }
  return findings;
}

const LOOKS: Readonly<Record<string, Look>> = {
  clock: lookAtClock,
  readiness: lookAtReadiness,
  mail: lookAtTransports,
  address: lookAtAddress,
  domains: lookAtDomains,
  audit: lookAtAuditLogs,
  consent: lookAtConsentLogs,
  counts: lookAtCounts,
};

async function lookAtDatabase({ database }: DoctorParts): Promise<Finding[]> {
  const { version } = await readServer(database);
  const [applied, known] = [await listAppliedMigrations(database), await readMigrations()];
  const missing = known.filter(({ version: one }) => !applied.includes(one));
  const newer = applied.filter((one) => !known.some(({ version: ours }) => ours === one));
  const check = "database";
  const major = Math.floor(version / 10_000);
  return [
    major >= OLDEST_POSTGRES
      ? { check, state: "ok", message: `PostgreSQL ${major} answers.` }
      : {
          check,
          state: "problem",
          message: `It is PostgreSQL ${major}.`,
          advice: `Upgrade it to ${OLDEST_POSTGRES} or newer.`,
        },
    newer.length > 0
      ? {
          check: "migrations",
          state: "problem",
          message: "The database is of a newer version of Postloft than this one.",
          advice: "Start the newer version again; there is no way back but a backup.",
        }
      : missing.length > 0
        ? {
            check: "migrations",
            state: "warning",
            message: `${missing.length} changes of its shape are not made yet.`,
            advice: "The next start makes them.",
          }
        : { check: "migrations", state: "ok", message: "Its shape is the newest." },
  ];
}

async function lookAtClock({ database }: DoctorParts): Promise<Finding> {
  const askedMs = now().getTime();
  const server = await readServer(database);
  const skewMs = Math.abs(server.now.getTime() - (askedMs + now().getTime()) / 2);
  const check = "clock";
  if (skewMs < CLOCK_WARNING_MS)
    return { check, state: "ok", message: "This machine and the database agree on the time." };
  return {
    check,
    state: skewMs < CLOCK_PROBLEM_MS ? "warning" : "problem",
    message: `The clock of this machine and that of the database differ by ${Math.round(skewMs / 1_000)} s.`,
    advice: "Keep both by NTP: signatures, sessions and one-time codes depend on the time.",
  };
}

/** What `/ready` says, with what to do. */
async function lookAtReadiness({ config, database, dataDir }: DoctorParts): Promise<Finding[]> {
  const isElsewhere = config.DATABASE_URL !== undefined;
  const { checks, warnings } = await readReadiness(database, isElsewhere ? null : dataDir);
  return [
    ...(isElsewhere
      ? await lookAtDisks(dataDir)
      : [diskFinding(checks.disk === "ok", "the database", "what is accepted cannot be stored")]),
    checks.queue === "ok"
      ? { check: "queue", state: "ok", message: "No mail that somebody waits for is late." }
      : {
          check: "queue",
          state: "problem",
          message: "Transactional mail has waited for more than five minutes.",
          advice: "Is a process with the role `worker` running? Its log says what keeps it.",
        },
    ...warnings.map(({ code, message }): Finding => ({
      check: code.toLowerCase(),
      state: "warning",
      message,
    })),
  ];
}

async function lookAtTransports({ watches }: DoctorParts): Promise<Finding[]> {
  const check = "mail";
  if (watches.length === 0)
    return [
      {
        check,
        state: "warning",
        message: "Mail stays in the local mailbox of this machine.",
        advice: "Set MAIL_TRANSPORT to a mail server when it is to leave (docs/self-hosting.md).",
      },
    ];
  return Promise.all(
    watches.map(async (watch): Promise<Finding> => {
      const message = (await watch.tryNow()) ?? "It was not tried.";
      return watch.outage() === null
        ? { check, state: "ok", message }
        : {
            check,
            state: "problem",
            message,
            advice: "Compare MAIL_TRANSPORT with what your provider says.",
          };
    }),
  );
}

/** Whether people and mail programs reach us where our links lead. */
async function lookAtAddress({ config }: DoctorParts): Promise<Finding[]> {
  const check = "address";
  const url = config.BASE_URL ?? "http://localhost";
  const proxy: Finding[] =
    url.startsWith("https:") && config.TRUST_PROXY.length === 0
      ? [
          {
            check: "proxy",
            state: "warning",
            message: "BASE_URL is https, and TRUST_PROXY names no proxy.",
            advice:
              "Behind a proxy set TRUST_PROXY: otherwise all visitors are one address to the rate limits.",
          },
        ]
      : [];
  const advice = "Is the server running, and does BASE_URL name it as people reach it?";
  try {
    const reply = await fetch(`${url}/health`, { signal: AbortSignal.timeout(REACH_TIMEOUT_MS) });
    const body = (await reply.json().catch(() => null)) as { status?: string } | null;
    return body?.status === "ok"
      ? [{ check, state: "ok", message: `${url} answers.` }, ...proxy]
      : [
          {
            check,
            state: "problem",
            message: `${url} answers, but not as Postloft (${reply.status}).`,
            advice,
          },
        ];
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const said = cause instanceof Error ? cause.message : String(cause);
    return [{ check, state: "problem", message: `${url} cannot be reached: ${said}.`, advice }, ...proxy];
  }
}

async function lookAtDomains({ config, database, watches }: DoctorParts): Promise<Finding | Finding[]> {
  // Nothing leaves, so nobody asks for the records.
  if (watches.length === 0) return [];
  const check = "domains";
  const { inspected, left } = await inspectDomains(
    database,
    createDns(config.DNS_SERVERS),
    INSPECTED_DOMAINS,
  );
  const bad = inspected.filter(({ proof }) => proof !== "found");
  const findings = bad.map(({ domain, proof, projectId }): Finding => ({
    check,
    state: proof === "missing" ? "problem" : "warning",
    message:
      proof === "missing"
        ? `The DKIM record of ${domain} is gone (project ${projectId}).`
        : `DNS does not answer for ${domain} (project ${projectId}).`,
    advice: "Mail from it may be refused: put the record back as the page Domains shows it.",
  }));
  if (bad.length === 0)
    findings.push({
      check,
      state: "ok",
      message: `${inspected.length} verified domains have their records.`,
    });
  if (left > 0)
    findings.push({
      check,
      state: "warning",
      message: `${left} more verified domains were not looked at.`,
      advice:
        "It is others each time. The server looks at all of them, and the page Domains says what it found.",
    });
  return findings;
}

async function lookAtAuditLogs({ database }: DoctorParts): Promise<Finding | Finding[]> {
  const check = "audit log";
  const faults = await verifyAuditLogs(database);
  if (faults.length === 0) return { check, state: "ok", message: "The audit logs are whole." };
  return faults.map(({ projectId, number, what }) => ({
    check,
    state: "problem",
    message: `Entry ${number} of the audit log of project ${projectId} is ${what === "missing" ? "missing" : "not as it was written"}.`,
    advice: CHANGED_BY_HAND,
  }));
}

const CHANGED_BY_HAND =
  "Somebody changed the database by hand, or a backup of another time was put in: compare with a backup.";
const WHAT_IS_WRONG = {
  changed: "is not as it was written",
  missing: "is missing, and its contact was not deleted",
  inserted: "was put in later, behind the others",
};

async function lookAtConsentLogs({ database }: DoctorParts): Promise<Finding | Finding[]> {
  const check = "consent log";
  const faults = await verifyConsentLogs(database);
  if (faults.length > 0)
    return faults.map(({ projectId, what, position, contactId }) => ({
      check,
      state: "problem",
      message:
        what === "seal"
          ? `Seal ${position} of the consent log of project ${projectId} is not as it was written, or missing.`
          : `Row ${position} of the consent log of project ${projectId}${contactId === null ? "" : `, of contact ${contactId},`} ${WHAT_IS_WRONG[what]}.`,
      advice: CHANGED_BY_HAND,
    }));
  return (await isConsentSealedLate(database))
    ? {
        check,
        state: "warning",
        message: "The consent logs are whole, but their newest rows are not sealed.",
        advice: "Start a process with the role `worker`: it seals them within seconds.",
      }
    : { check, state: "ok", message: "The consent logs are whole." };
}

async function lookAtCounts({ database }: DoctorParts): Promise<Finding | Finding[]> {
  const check = "counts";
  const to = now();
  const span = { from: new Date(to.getTime() - RECOUNTED_MS), to };
  const { projects, wrong } = await recountSample(database, span, RECOUNTED_PROJECTS);
  if (wrong.length === 0)
    return { check, state: "ok", message: `The counts of ${projects} projects are those of their rows.` };
  return wrong.map(({ projectId, what, quarters }) => ({
    check,
    state: "problem",
    message: `In ${quarters} quarters of an hour of the last week the counts by ${what} of project ${projectId} are not those of the rows.`,
    advice: "Rows were changed by hand, or this is a bug: please report it with these lines.",
  }));
}
