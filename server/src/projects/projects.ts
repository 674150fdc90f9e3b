// Projects, the tenants: made by a person, changed by its admins, seen with both keys by its members.
// Before it: users/. After it: everything else belongs to one.
import type { Role } from "@postloft/contract/projects.ts";
import type { Sealer } from "../platform/crypto.ts";
import type { Database, Tx } from "../platform/database.ts";
import { isId, newId } from "../platform/ids.ts";
import { Refusal } from "../platform/refusal.ts";
import { makeKeyPair, replaceKeys, type KeyPair } from "./keys.ts";
import {
  findDefaultSenders,
  findMembershipRow,
  insertMembership,
  insertProject,
  listProjectRows,
  updateProjectRow,
  type ProjectChanges,
  type ProjectRow,
} from "./queries.ts";

export interface ProjectView {
  id: string;
  name: string;
  public: string;
  secret: string;
  role: Role;
  language: string;
  tracking: string;
  whenInDoubt: string;
  defaultFrom: string | null;
  disabled: boolean;
  createdAt: string;
  updatedAt: string;
}

function present(sealer: Sealer, row: ProjectRow): ProjectView {
  return {
    id: row.id,
    name: row.name,
    public: sealer.open(row.public_key, row.id),
    secret: sealer.open(row.secret_key, row.id),
    role: row.role as Role,
    language: row.language,
    tracking: row.tracking,
    whenInDoubt: row.when_in_doubt,
    defaultFrom: row.default_from,
    disabled: row.disabled,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

/** Makes a project with its keys and its owner. */
export async function createProject(
  tx: Tx,
  sealer: Sealer,
  project: { name: string; ownerId: string; keys?: KeyPair },
): Promise<ProjectView> {
  const id = newId();
  await insertProject(tx, { id, name: project.name });
  await insertMembership(tx, { project_id: id, user_id: project.ownerId, role: "OWNER" });
  await replaceKeys(tx, sealer, id, project.keys ?? makeKeyPair());
  return getProject(tx, sealer, project.ownerId, id);
}

/** The projects a person is a member of, newest first. */
export async function listProjects(
  database: Database,
  sealer: Sealer,
  userId: string,
): Promise<ProjectView[]> {
  return (await listProjectRows(database, userId, null)).map((row) => present(sealer, row));
}

/** @throws Refusal PROJECT_NOT_FOUND also for a project the person is no member of. */
async function getProject(
  database: Database,
  sealer: Sealer,
  userId: string,
  projectId: string,
): Promise<ProjectView> {
  const [row] = isId(projectId) ? await listProjectRows(database, userId, projectId) : [];
  if (row === undefined) throw new Refusal("PROJECT_NOT_FOUND");
  return present(sealer, row);
}

/** The project, for somebody who may change it. @throws Refusal 404, 403 FORBIDDEN or PROJECT_DISABLED. */
async function getProjectToChange(
  tx: Tx,
  sealer: Sealer,
  userId: string,
  projectId: string,
): Promise<ProjectView> {
  const project = await getProject(tx, sealer, userId, projectId);
  if (project.role === "MEMBER")
    throw new Refusal("FORBIDDEN", { message: "Only an admin of the project may do this." });
  if (project.disabled) throw new Refusal("PROJECT_DISABLED");
  return project;
}

/** Changes settings; what is left out stays. */
export async function updateProject(
  tx: Tx,
  sealer: Sealer,
  userId: string,
  projectId: string,
  changes: ProjectChanges,
): Promise<ProjectView> {
  const { id } = await getProjectToChange(tx, sealer, userId, projectId);
  await updateProjectRow(tx, id, changes);
  return getProject(tx, sealer, userId, id);
}

/** Replaces both keys. */
export async function regenerateKeys(
  tx: Tx,
  sealer: Sealer,
  userId: string,
  projectId: string,
): Promise<ProjectView> {
  const { id } = await getProjectToChange(tx, sealer, userId, projectId);
  await replaceKeys(tx, sealer, id, makeKeyPair());
  return getProject(tx, sealer, userId, id);
}

/** A person's part in a project, or null. */
export async function findMembership(
  database: Database,
  userId: string,
  projectId: string,
): Promise<{ role: Role; disabled: boolean } | null> {
  const row = isId(projectId) ? await findMembershipRow(database, userId, projectId) : undefined;
  return row === undefined ? null : { role: row.role as Role, disabled: row.disabled };
}

/** The sender of mails that name none, per project that has set one. */
export async function readDefaultSenders(
  database: Database,
  projectIds: readonly string[],
): Promise<Map<string, string>> {
  if (projectIds.length === 0) return new Map();
  const rows = await findDefaultSenders(database, projectIds);
  return new Map(
    rows.flatMap((row) => (row.default_from === null ? [] : [[row.id, row.default_from] as const])),
  );
}
