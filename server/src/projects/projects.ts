// Manages projects, the tenants: a person creates one, its admins change it and see both of its keys.
import type * as contract from "@postloft/contract/projects.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { DoubtPolicy, TrackingMode } from "@postloft/contract/projects.ts";
import { seesSecretKey, type Role } from "@postloft/contract/roles.ts";
import type { z } from "zod";
import { withValues } from "@postloft/contract/translation.ts";
import type { Sealer } from "../platform/crypto.ts";
import type { Database, Tx } from "../platform/database/database.ts";
import { isId, newId } from "../platform/ids.ts";
import { AppError } from "../platform/app-error.ts";
import { changeQueueRules, createProjectQueue, type QueueRules } from "../emails/outbox/queues.ts";
import { changeEmailRetention } from "../emails/retention/retention.ts";
import { changeEventRetention } from "../events/retention.ts";
import { recordAudit, SERVICE, type Actor } from "../audit/audit-log.ts";
import { lockAsAdmin } from "./members/members.ts";
import { sendNotice } from "./members/project-notices.ts";
import { checkBrand, presentBrand, type LockOwnImage } from "./brand.ts";
import { makeKeyPair, replaceKeys, type KeyPair } from "./keys.ts";
import {
  countOwnedProjects,
  findOwnerId,
  findMembershipRow,
  findProjectIds,
  findProjectsByInboundName,
  insertMembership,
  insertProject,
  isProjectName,
  listAllProjectRows,
  listProjectNames,
  listProjectRows,
  readSettings,
  updateInboundName,
  updateProjectRow,
  type OwnChanges,
  type ProjectRow,
} from "./queries.ts";

export { lockProject } from "./queries.ts";

/** Changed settings by column: of the project itself, its sending queue, and its retention. */
export interface ProjectChanges {
  own: OwnChanges;
  rules: Partial<QueueRules>;
  kept: { eventRetentionDays?: number | null; emailRetentionDays?: number | null };
}

export type ProjectView = z.output<typeof contract.project>;

/** Dependencies for presenting a project. */
export interface ProjectContext {
  sealer: Sealer;
  /** The domain that receives messages from people; null if there is none. */
  inboundDomain: string | null;
}

function present({ sealer, inboundDomain }: ProjectContext, row: ProjectRow): ProjectView {
  const role = row.role as Role;
  return {
    id: row.id,
    name: row.name,
    public: sealer.open(row.publicKey, row.id),
    secret: seesSecretKey(role) ? sealer.open(row.secretKey, row.id) : null,
    role,
    language: row.language,
    tracking: row.tracking as TrackingMode,
    whenInDoubt: row.whenInDoubt as DoubtPolicy,
    suppressionList: row.suppressionList,
    defaultFrom: row.defaultFrom,
    sendingRate: row.sendingRate,
    eventRetentionDays: row.eventRetentionDays,
    emailRetentionDays: row.emailRetentionDays,
    postalAddress: row.postalAddress,
    logoUrl: row.logoUrl,
    brand: presentBrand(row),
    inboundAddress: inboundDomain === null ? null : `${row.inboundName}@${inboundDomain}`,
    disabled: row.disabled,
    removal: row.removal as ProjectView["removal"],
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/**
 * Creates a project with its keys and owner.
 * @throws AppError CONFLICT over the limit
 */
export async function createProject(
  tx: Tx,
  around: ProjectContext,
  project: { name: string; ownerId: string; actor?: Actor; keys?: KeyPair },
): Promise<ProjectView> {
  const owned = await countOwnedProjects(tx, project.ownerId);
  if (owned === undefined) throw new AppError("UNAUTHORIZED");
  if (owned >= LIMITS.projects.value)
    throw new AppError(
      "CONFLICT",
      withValues("You can own up to {most} projects.", { most: LIMITS.projects.value }),
    );
  const id = newId();
  await insertProject(tx, { id, name: project.name });
  await createProjectQueue(tx, id);
  await insertMembership(tx, { projectId: id, userId: project.ownerId, role: "OWNER" });
  await replaceKeys(tx, around.sealer, id, project.keys ?? makeKeyPair());
  await recordAudit(tx, [
    {
      projectId: id,
      actor: project.actor ?? SERVICE,
      action: "project.created",
      details: { name: project.name },
    },
  ]);
  return getProject(tx, around, project.ownerId, id);
}

/** Returns the projects of a member, newest first. */
export async function listProjects(
  database: Database,
  around: ProjectContext,
  userId: string,
): Promise<ProjectView[]> {
  return (await listProjectRows(database, userId, null)).map((row) => present(around, row));
}

/** Returns the names of the projects of the account of an address. */
export async function projectNames(database: Database, email: string): Promise<string[]> {
  return listProjectNames(database, email);
}

/**
 * Returns a project of a member.
 * @throws AppError PROJECT_NOT_FOUND, also if the person is not a member
 */
export async function getProject(
  database: Database,
  around: ProjectContext,
  userId: string,
  projectId: string,
): Promise<ProjectView> {
  const [row] = isId(projectId) ? await listProjectRows(database, userId, projectId) : [];
  if (row === undefined) throw new AppError("PROJECT_NOT_FOUND");
  return present(around, row);
}

interface OfProject {
  projectId: string;
  /** The person who gets the project. */
  userId: string;
  actor: Actor;
}

/**
 * Changes the given settings.
 * @throws AppError FORBIDDEN if the actor is no longer an admin; VALIDATION_ERROR for a brand that is hard to read or has no logo
 */
export async function updateProject(
  tx: Tx,
  around: ProjectContext & { lockOwnImage: LockOwnImage },
  { projectId, userId, actor }: OfProject,
  changes: ProjectChanges,
): Promise<ProjectView> {
  await lockAsAdmin(tx, projectId, actor);
  const before = await readSettings(tx, projectId);
  const { lockOwnImage } = around;
  await checkBrand(tx, projectId, { before, changes: changes.own, lockOwnImage });
  const details = differences(before, { ...changes.own, ...changes.rules, ...changes.kept });
  if (Object.keys(details).length > 0) {
    await updateProjectRow(tx, projectId, changes.own);
    await changeQueueRules(tx, projectId, changes.rules);
    const { eventRetentionDays, emailRetentionDays } = changes.kept;
    if (eventRetentionDays !== undefined) await changeEventRetention(tx, projectId, eventRetentionDays);
    if (emailRetentionDays !== undefined) await changeEmailRetention(tx, projectId, emailRetentionDays);
    await recordAudit(tx, [{ projectId, actor, action: "project.updated", details }]);
  }
  return getProject(tx, around, userId, projectId);
}

/** Returns the old and new value of each changed setting. */
function differences(
  before: Readonly<Record<string, unknown>>,
  changes: ProjectChanges["own"] & ProjectChanges["rules"] & ProjectChanges["kept"],
) {
  return Object.fromEntries(
    Object.entries(changes).flatMap(([column, to]) =>
      JSON.stringify(before[column]) === JSON.stringify(to) ? [] : [[column, { from: before[column], to }]],
    ),
  );
}

/**
 * Replaces both keys. Of two concurrent calls the later one's pair remains.
 * @throws AppError FORBIDDEN if the actor is no longer an admin
 */
export async function regenerateKeys(
  tx: Tx,
  around: ProjectContext,
  { projectId, userId, actor }: OfProject,
): Promise<ProjectView> {
  await lockAsAdmin(tx, projectId, actor);
  await replaceKeys(tx, around.sealer, projectId, makeKeyPair());
  await sendNotice(tx, { projectId, notice: "keysRotated", actor });
  await recordAudit(tx, [{ projectId, actor, action: "keys.regenerated" }]);
  return getProject(tx, around, userId, projectId);
}

/**
 * Replaces the project's inbound address; messages to the old one are no longer accepted.
 * @throws AppError FORBIDDEN if the actor is no longer an admin
 */
export async function regenerateInboundAddress(
  tx: Tx,
  around: ProjectContext,
  { projectId, userId, actor }: OfProject,
): Promise<ProjectView> {
  await lockAsAdmin(tx, projectId, actor);
  await updateInboundName(tx, projectId);
  await recordAudit(tx, [{ projectId, actor, action: "inboundAddress.regenerated" }]);
  return getProject(tx, around, userId, projectId);
}

/** The random part of a project's address, or an id for projects that are older than random addresses. */
const INBOUND_NAME = /^[0-9a-f]{20}$/;

/** Returns whether it has the form of a project's inbound local part, without a lookup. */
export function isInboundName(text: string): boolean {
  return INBOUND_NAME.test(text) || isId(text);
}

/** Returns the projects of inbound messages by local part. */
export async function findWrittenTo(
  database: Database,
  names: readonly string[],
): Promise<Map<string, string>> {
  if (names.length === 0) return new Map();
  const rows = await findProjectsByInboundName(database, names);
  return new Map(rows.map((row) => [row.inboundName, row.id]));
}

/** Returns those of the projects that exist. */
export async function findExisting(database: Database, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  return new Set((await findProjectIds(database, ids)).map(({ id }) => id));
}

/** Returns whether a text is the id or the exact name of a project. */
export async function isProjectCalled(database: Database, projectId: string, text: string): Promise<boolean> {
  return text.toLowerCase() === projectId || isProjectName(database, projectId, text);
}

/** Returns a person's role in a project, or null. */
export async function findMembership(
  database: Database,
  userId: string,
  projectId: string,
): Promise<{ role: Role; disabled: boolean; isVerified: boolean } | null> {
  const row = isId(projectId) ? await findMembershipRow(database, userId, projectId) : undefined;
  if (row === undefined) return null;
  return { role: row.role as Role, disabled: row.disabled, isVerified: row.verifiedAt !== null };
}

export interface ListedProject {
  id: string;
  name: string;
  /** The address of its owner. */
  owner: string | null;
  disabled: boolean;
  removal: "RESET" | "DELETE" | null;
  createdAt: string;
}

/** Returns all projects in the order of their creation, starting after `after`. For the instance admin. */
export async function listAllProjects(
  database: Database,
  { after, limit }: { after: string | null; limit: number },
): Promise<ListedProject[]> {
  const rows = await listAllProjectRows(database, after, limit);
  return rows.map(({ createdAt, removal, ...row }) => ({
    ...row,
    removal: removal as ListedProject["removal"],
    createdAt: createdAt.toISOString(),
  }));
}

/**
 * Returns the owner of a project.
 * @throws AppError PROJECT_NOT_FOUND
 */
export async function getOwnerId(database: Database, projectId: string): Promise<string> {
  const id = await findOwnerId(database, projectId);
  if (id === undefined) throw new AppError("PROJECT_NOT_FOUND");
  return id;
}
