// Deletes an account after removing it from its projects, each of which keeps an owner.
import { withValues } from "@postloft/contract/translation.ts";
import type { Tx } from "../../platform/database/database.ts";
import { AppError } from "../../platform/app-error.ts";
import { recordAudit, type Actor } from "../../audit/audit-log.ts";
import { removeUser } from "../../users/account.ts";
import type { Place } from "../../users/place.ts";
import type { User } from "../../users/users.ts";
import { lockProject } from "../queries.ts";
import { revokeKeysOf } from "../scoped-keys/scoped-keys.ts";
import { withdrawInvitations } from "./members.ts";
import { deleteMember, listMembershipsOf, listOnlyOwned } from "./queries.ts";

const NAMED = 5;

/**
 * Deletes an account. The caller locks the account, so that it joins no project in between.
 *
 * @throws AppError CONFLICT while the account is the only owner of a project
 */
export async function deleteAccount(tx: Tx, user: User, actor: Actor, place: Place): Promise<void> {
  // Runs under the locks of the projects, so that no other owner leaves concurrently.
  for (const { projectId } of await listMembershipsOf(tx, user.id)) await lockProject(tx, projectId);
  const places = await listMembershipsOf(tx, user.id);
  const owned = await listOnlyOwned(tx, user.id);
  if (owned.length > 0) throw stillOwns(owned);
  for (const { projectId, role } of places) {
    const of = { projectId, userId: user.id, actor };
    await deleteMember(tx, projectId, user.id);
    const target = { id: user.id, name: user.email };
    await recordAudit(tx, [
      { projectId, actor, action: "member.left", target, details: { role } },
      ...(await withdrawInvitations(tx, of)),
      ...(await revokeKeysOf(tx, of)),
    ]);
  }
  await removeUser(tx, user, place);
}

function stillOwns(owned: readonly string[]): AppError {
  const names = owned.slice(0, NAMED).join(", ");
  const count = owned.length - NAMED;
  return new AppError(
    "CONFLICT",
    count > 0
      ? withValues(
          "You are the only owner of {names} and {count} more. Transfer the ownership or delete these projects first.",
          { names, count },
        )
      : withValues(
          "You are the only owner of {names}. Transfer the ownership or delete these projects first.",
          { names },
        ),
  );
}
