// Checks of `npm run doctor`. Each finding is a sentence with advice. Nothing is changed.
import { asMessage, withValues } from "@postloft/contract/translation.ts";
import { verifyAuditLogs } from "../audit/audit-log.ts";
import { isConsentCheckpointedLate, verifyConsentLogs } from "../contacts/consent-chain/verify-consent.ts";
import { inspectDomains } from "../domains/inspect-domains.ts";
import { now } from "../platform/clock.ts";
import { createDns } from "../platform/dns.ts";
import { readMigrations } from "../platform/database/migrations.ts";
import { areAllReplaced } from "../platform/database/replaced-migrations.ts";
import { checkCounts, checkEmailCounts } from "./doctor-counts.ts";
import { databaseDiskFinding, checkDisks } from "./doctor-disk.ts";
import type { DoctorDependencies, Finding, Look, QuickDependencies } from "./finding.ts";
import { readReadiness } from "./health.ts";
import { listAppliedMigrations, readServer } from "./queries.ts";

const OLDEST_POSTGRES = 15;
const CLOCK_WARNING_MS = 2_000;
const CLOCK_PROBLEM_MS = 30_000;
const REACH_TIMEOUT_MS = 8_000;
const INSPECTED_DOMAINS = 50;

/**
 * Runs all checks in the order of their dependencies. A check that fails to run is a problem.
 *
 * @throws an error if the database can't be reached, because the other checks need it
 */
export async function examine(deps: DoctorDependencies): Promise<Finding[]> {
  const findings = await examineQuickly(deps);
  for (const [check, look] of Object.entries(LOOKS)) findings.push(...(await run(check, () => look(deps))));
  return findings;
}

/**
 * Runs the checks that need neither DNS nor other servers, nor read many rows.
 *
 * @throws an error if the database can't be reached
 */
export async function examineQuickly(deps: QuickDependencies): Promise<Finding[]> {
  return [
    ...(await checkDatabase(deps)),
    ...(await run("clock", () => checkClock(deps))),
    ...(await run("readiness", () => checkReadiness(deps))),
  ];
}

async function run(check: string, look: () => Promise<Finding | Finding[]>): Promise<Finding[]> {
  try {
    return [await look()].flat();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [{ check, state: "problem", message: `The check failed: ${message}.` }];
  }
}

const LOOKS: Readonly<Record<string, Look>> = {
  mail: checkTransports,
  address: checkAddress,
  domains: checkDomains,
  audit: checkAuditLogs,
  consent: checkConsentLogs,
  counts: checkCounts,
  "email counts": checkEmailCounts,
};

async function checkDatabase({ database }: QuickDependencies): Promise<Finding[]> {
  const { version } = await readServer(database);
  const [recorded, known] = [await listAppliedMigrations(database), await readMigrations()];
  // The next start records the first migration instead of those that it replaced.
  const applied = areAllReplaced(recorded) ? [1] : recorded;
  const missing = known.filter(({ version: one }) => !applied.includes(one));
  const newer = applied.filter((one) => !known.some(({ version: ours }) => ours === one));
  const check = "database";
  const major = Math.floor(version / 10_000);
  return [
    major >= OLDEST_POSTGRES
      ? { check, state: "ok", ...withValues("PostgreSQL {major} is reachable.", { major }) }
      : {
          check,
          state: "problem",
          ...withValues("PostgreSQL {major} is too old.", { major }),
          advice: withValues("Upgrade to PostgreSQL {oldest} or newer.", { oldest: OLDEST_POSTGRES }).message,
        },
    newer.length > 0
      ? {
          check: "migrations",
          state: "problem",
          ...asMessage("The database was used by a newer version of Postloft."),
          advice: asMessage("Start the newer version again. Downgrading requires a backup.").message,
        }
      : missing.length > 0
        ? {
            check: "migrations",
            state: "warning",
            ...withValues("{count} migrations are pending.", { count: missing.length }),
            advice: asMessage("The next start applies them.").message,
          }
        : { check: "migrations", state: "ok", ...asMessage("All migrations are applied.") },
  ];
}

async function checkClock({ database }: QuickDependencies): Promise<Finding> {
  const askedMs = now().getTime();
  const server = await readServer(database);
  const skewMs = Math.abs(server.now.getTime() - (askedMs + now().getTime()) / 2);
  const check = "clock";
  if (skewMs < CLOCK_WARNING_MS)
    return { check, state: "ok", ...asMessage("This machine and the database agree on the time.") };
  return {
    check,
    state: skewMs < CLOCK_PROBLEM_MS ? "warning" : "problem",
    ...withValues("The clock of this machine and that of the database differ by {seconds} s.", {
      seconds: Math.round(skewMs / 1_000),
    }),
    advice: asMessage(
      "Synchronize both with NTP. Signatures, sessions and one-time codes depend on the time.",
    ).message,
  };
}

/** Returns the result of `/ready` with advice. */
async function checkReadiness({ database, dataDir, isElsewhere }: QuickDependencies): Promise<Finding[]> {
  const { checks, warnings } = await readReadiness(database, isElsewhere ? null : dataDir);
  return [
    ...(isElsewhere ? await checkDisks(dataDir) : [databaseDiskFinding(checks.disk === "ok")]),
    checks.queue === "ok"
      ? { check: "queue", state: "ok", ...asMessage("No transactional email is delayed.") }
      : {
          check: "queue",
          state: "problem",
          ...asMessage("Transactional email has been waiting for more than five minutes."),
          advice: asMessage("Check that a process with the role `worker` is running, and read its log.")
            .message,
        },
    ...warnings.map(({ code, message }): Finding => ({
      check: code.toLowerCase(),
      state: "warning",
      message,
    })),
  ];
}

async function checkTransports({ watches }: DoctorDependencies): Promise<Finding[]> {
  const check = "mail";
  if (watches.length === 0)
    return [
      {
        check,
        state: "warning",
        message: "Email stays in the local mailbox on this machine.",
        advice: "To send email, set MAIL_TRANSPORT to a mail server (docs/self-hosting.md).",
      },
    ];
  return Promise.all(
    watches.map(async (watch): Promise<Finding> => {
      const message = (await watch.tryNow()) ?? "Not tested.";
      return watch.outage() === null
        ? { check, state: "ok", message }
        : {
            check,
            state: "problem",
            message,
            advice: "Compare MAIL_TRANSPORT with your provider's settings.",
          };
    }),
  );
}

/** Checks that the server is reachable at the address used in links. */
async function checkAddress({ config }: DoctorDependencies): Promise<Finding[]> {
  const check = "address";
  const url = config.BASE_URL ?? "http://localhost";
  const proxy: Finding[] =
    url.startsWith("https:") && config.TRUST_PROXY.length === 0
      ? [
          {
            check: "proxy",
            state: "warning",
            message: "BASE_URL is https but TRUST_PROXY is not set.",
            advice:
              "Behind a proxy set TRUST_PROXY. Otherwise all visitors share one address in the rate limits.",
          },
        ]
      : [];
  const advice = "Check that the server is running and that BASE_URL is its public address.";
  try {
    const reply = await fetch(`${url}/health`, { signal: AbortSignal.timeout(REACH_TIMEOUT_MS) });
    const body = (await reply.json().catch(() => null)) as { status?: string } | null;
    return body?.status === "ok"
      ? [{ check, state: "ok", message: `${url} is reachable.` }, ...proxy]
      : [
          {
            check,
            state: "problem",
            message: `${url} does not respond like Postloft (status ${reply.status}).`,
            advice,
          },
        ];
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    const said = cause instanceof Error ? cause.message : String(cause);
    return [{ check, state: "problem", message: `${url} can't be reached: ${said}.`, advice }, ...proxy];
  }
}

async function checkDomains({ config, database, watches }: DoctorDependencies): Promise<Finding | Finding[]> {
  // No email leaves the machine, so no receiver asks for the records.
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
        ? `The DKIM record of ${domain} is missing (project ${projectId}).`
        : `DNS did not answer for ${domain} (project ${projectId}).`,
    advice: "Emails from it may be rejected. Restore the record shown on the Domains page.",
  }));
  if (bad.length === 0)
    findings.push({
      check,
      state: "ok",
      message: `All ${inspected.length} checked domains have their DKIM record.`,
    });
  if (left > 0)
    findings.push({
      check,
      state: "warning",
      message: `${left} more verified domains were not checked.`,
      advice:
        "Each run picks other domains. The server checks all of them, and the Domains page shows the results.",
    });
  return findings;
}

async function checkAuditLogs({ database }: DoctorDependencies): Promise<Finding | Finding[]> {
  const check = "audit log";
  const faults = await verifyAuditLogs(database);
  if (faults.length === 0) return { check, state: "ok", message: "The audit logs are intact." };
  return faults.map(({ projectId, number, what }) => ({
    check,
    state: "problem",
    message: `Entry ${number} of the audit log of project ${projectId} ${what === "missing" ? "is missing" : "was changed"}.`,
    advice: CHANGED_BY_HAND,
  }));
}

const CHANGED_BY_HAND =
  "The database was changed manually or restored from a backup. Compare it with a backup.";
const WHAT_IS_WRONG = {
  changed: "was changed",
  missing: "is missing although its contact was not deleted",
  inserted: "was inserted later",
};

async function checkConsentLogs({ database }: DoctorDependencies): Promise<Finding | Finding[]> {
  const check = "consent log";
  const faults = await verifyConsentLogs(database);
  if (faults.length > 0)
    return faults.map(({ projectId, what, position, contactId }) => ({
      check,
      state: "problem",
      message:
        what === "seal"
          ? `Checkpoint ${position} of the consent log of project ${projectId} was changed or is missing.`
          : `Row ${position} of the consent log of project ${projectId}${contactId === null ? "" : `, of contact ${contactId},`} ${WHAT_IS_WRONG[what]}.`,
      advice: CHANGED_BY_HAND,
    }));
  return (await isConsentCheckpointedLate(database))
    ? {
        check,
        state: "warning",
        message: "The consent logs are intact, but their newest rows have no checkpoint yet.",
        advice: "Start a process with the role `worker`, which adds one within seconds.",
      }
    : { check, state: "ok", message: "The consent logs are intact." };
}
