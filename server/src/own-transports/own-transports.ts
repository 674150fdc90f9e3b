// Lists, changes and tests the transports of a project (docs/decisions/0153-a-transport-per-project.md).
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type * as contract from "@postloft/contract/project-transports.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { MASKED } from "@postloft/contract/workflows/graph.ts";
import type { z } from "zod";
import { AppError, invalidField } from "../platform/app-error.ts";
import type { Sealer } from "../platform/crypto.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { takeOrThrow, type RateLimiter } from "../platform/http/rate-limit.ts";
import { isId, newId } from "../platform/ids.ts";
import { listDomainNames } from "../domains/listed-names.ts";
import { changeOwnTransports } from "../emails/outbox/queues.ts";
import { lockProject } from "../projects/projects.ts";
import { overlaps } from "../transports/own/choose-transport.ts";
import { openProjectServer, type FindAddresses } from "../transports/own/server.ts";
import {
  deleteProjectTransport,
  findSealedUrl,
  insertProjectTransport,
  listProjectTransports,
  updateProjectTransport,
  type ProjectTransportRow,
} from "../transports/own/stored.ts";
import {
  contextOfTransport,
  fillMaskedLogin,
  maskProjectUrl,
  parseProjectUrl,
} from "../transports/own/url.ts";
import { toPrintableLine } from "../transports/smtp-replies.ts";
import { within } from "../transports/transport-watch.ts";

const HOUR_SECONDS = 3_600;
const SCHEME = /^(?:smtps?|ses):\/\//;

type Settings = z.output<typeof contract.createProjectTransport.body>;
type Changes = z.output<typeof contract.updateProjectTransport.body>;
type Kind = NonNullable<z.output<(typeof contract.createProjectTransport.responses)[201]>["kinds"]>[number];

export interface TransportKey {
  projectId: string;
  id: string;
}

function present(row: ProjectTransportRow) {
  return {
    ...row,
    kinds: row.kinds as Kind[] | null,
    failingSince: row.failingSince?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** Returns all transports. The limit of a project bounds their number. */
export async function listTransports(database: Database, projectId: string) {
  return (await listProjectTransports(database, projectId)).map(present);
}

/** @throws AppError VALIDATION_ERROR for the URL or the domain, CONFLICT for a second match or above the limit of a project */
export async function createTransport(tx: Tx, sealer: Sealer, projectId: string, settings: Settings) {
  await lockProject(tx, projectId);
  const others = await listProjectTransports(tx, projectId);
  if (others.length >= LIMITS.projectTransports.value)
    throw new AppError(
      "CONFLICT",
      withValues("A project can have up to {most} transports. Delete one first.", {
        most: LIMITS.projectTransports.value,
      }),
    );
  const { name, url, kinds = null, domain = null, enabled = true } = settings;
  await requireMatch(tx, projectId, { kinds, domain }, others);
  const id = newId();
  const stored = storedUrl(sealer, { projectId, id }, url, null);
  const match = { kinds: distinct(kinds), domain };
  const row = await insertProjectTransport(tx, { projectId, id, name, ...match, enabled, ...stored });
  await applyChange(tx, projectId);
  return present(row);
}

/** @throws AppError RESOURCE_NOT_FOUND, also for a transport of another project, and as for a new one */
export async function changeTransport(tx: Tx, sealer: Sealer, key: TransportKey, changes: Changes) {
  const { projectId, id } = key;
  await lockProject(tx, projectId);
  const all = await listProjectTransports(tx, projectId);
  const stored = all.find((one) => one.id === id);
  if (stored === undefined) throw new AppError("RESOURCE_NOT_FOUND");
  const { url, kinds, domain, name, enabled } = changes;
  const match = {
    kinds: kinds === undefined ? stored.kinds : distinct(kinds),
    domain: domain === undefined ? stored.domain : domain,
  };
  const others = all.filter((one) => one !== stored);
  await requireMatch(tx, projectId, match, others, domain === undefined || domain === stored.domain);
  const row = await updateProjectTransport(tx, projectId, id, {
    ...match,
    ...(name === undefined ? {} : { name }),
    ...(enabled === undefined ? {} : { enabled }),
    ...(url === undefined ? {} : storedUrl(sealer, key, url, await findSealedUrl(tx, projectId, id))),
  });
  await applyChange(tx, projectId);
  return present(row);
}

/** Deletes a transport and returns its name and masked URL. @throws AppError RESOURCE_NOT_FOUND */
export async function deleteTransport(tx: Tx, { projectId, id }: TransportKey) {
  await lockProject(tx, projectId);
  const deleted = isId(id) ? await deleteProjectTransport(tx, projectId, id) : undefined;
  if (deleted === undefined) throw new AppError("RESOURCE_NOT_FOUND");
  await applyChange(tx, projectId);
  return deleted;
}

export interface TestParts {
  database: Database;
  sealer: Sealer;
  rateLimiter: RateLimiter;
  heloName: string;
  findAddresses: FindAddresses;
}

/** Connects to the server without sending. @throws AppError RESOURCE_NOT_FOUND, RATE_LIMIT_EXCEEDED */
export async function testTransport(parts: TestParts, { projectId, id }: TransportKey) {
  const sealed = isId(id) ? await findSealedUrl(parts.database, projectId, id) : undefined;
  if (sealed === undefined) throw new AppError("RESOURCE_NOT_FOUND");
  await takeOrThrow(parts.rateLimiter, {
    bucket: `transport-tests:${projectId}`,
    limit: LIMITS.transportTests.value,
    windowSeconds: HOUR_SECONDS,
  });
  try {
    const url = parts.sealer.open(sealed, contextOfTransport(projectId, id));
    const transport = await openProjectServer(parseProjectUrl(url), parts);
    try {
      const reached = await within(LIMITS.transportTestSeconds.value * 1_000, reachOf(transport));
      const { serverName = "", tls, login } = reached;
      return { error: null, serverName: serverName === "" ? null : serverName, tls, login };
    } finally {
      // Not awaited, because a server that does not reply would delay the response.
      transport.close().catch(() => undefined);
    }
  } catch (error) {
    const reason = toPrintableLine(error instanceof Error ? error.message : String(error));
    return { error: reason, serverName: null, tls: null, login: null };
  }
}

async function reachOf({ reach }: Awaited<ReturnType<typeof openProjectServer>>) {
  if (reach === undefined) throw new Error("This transport cannot be tested.");
  return reach();
}

const distinct = <One>(kinds: readonly One[] | null): One[] | null =>
  kinds === null ? null : [...new Set(kinds)];

/** @throws AppError VALIDATION_ERROR for a domain that the project does not have, CONFLICT for a match of another transport */
async function requireMatch(
  tx: Tx,
  projectId: string,
  match: Pick<ProjectTransportRow, "kinds" | "domain">,
  others: readonly ProjectTransportRow[],
  isDomainKnown = false,
): Promise<void> {
  const { domain } = match;
  if (domain !== null && !isDomainKnown && !(await listDomainNames(tx, projectId)).includes(domain))
    throw invalidField(
      "domain",
      "custom",
      withValues("{domain} is not a domain of this project. Add it to the project first.", { domain }),
    );
  const other = others.find((one) => overlaps(one, match));
  if (other !== undefined)
    throw new AppError(
      "CONFLICT",
      withValues('The transport "{name}" already matches these emails. Change its kinds or its domain.', {
        name: other.name,
      }),
    );
}

/** Returns the masked and the encrypted URL. @throws AppError VALIDATION_ERROR */
function storedUrl(
  sealer: Sealer,
  { projectId, id }: TransportKey,
  input: string,
  stored: Buffer | null | undefined,
) {
  const context = contextOfTransport(projectId, id);
  const url = fillMaskedLogin(input, openOrNull(sealer, stored, context), MASKED);
  if (url === null)
    throw invalidField(
      "url",
      "custom",
      "There are no stored credentials for this server. Enter user and password.",
    );
  try {
    parseProjectUrl(url);
  } catch (error) {
    if (!SCHEME.test(url))
      throw invalidField("url", "invalid_string", "Must begin with smtp://, smtps:// or ses://.");
    throw invalidField("url", "invalid_string", faultOf(error));
  }
  return { url: maskProjectUrl(url, MASKED), sealed: sealer.seal(url, context) };
}

function openOrNull(sealer: Sealer, sealed: Buffer | null | undefined, context: string): string | null {
  try {
    return sealed == null ? null : sealer.open(sealed, context);
  } catch {
    return null; // sealed under another application secret
  }
}

function faultOf(error: unknown) {
  const text = error instanceof Error ? error.message : String(error);
  const reason = text.replace(/^The \w+ URL cannot be used: /, "").replace(/\.$/, "");
  return withValues("This URL can't be used: {reason}.", { reason });
}

/** Makes senders choose transports again. */
async function applyChange(tx: Tx, projectId: string): Promise<void> {
  const left = await listProjectTransports(tx, projectId);
  await changeOwnTransports(
    tx,
    projectId,
    left.some(({ enabled }) => enabled),
  );
}
