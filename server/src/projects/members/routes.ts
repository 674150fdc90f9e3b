// HTTP routes for members and invitations. Emails are queued in the same commit.
import * as contract from "@postloft/contract/members.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { Sealer } from "../../platform/crypto.ts";
import type { Database } from "../../platform/database/database.ts";
import { transaction } from "../../platform/database/database.ts";
import { created, noContent, ok, route, type Route } from "../../platform/http/route.ts";
import { AppError } from "../../platform/app-error.ts";
import { takeOrThrow, type RateLimiter, type Take } from "../../platform/http/rate-limit.ts";
import { networkOf } from "../../platform/http/visitor-network.ts";
import { acceptedLanguage } from "../../emails/platform-email/mail-language.ts";
import { enqueuePlatformEmails } from "../../emails/platform-email/platform-email.ts";
import { actorOf } from "../../audit/audit-log.ts";
import type { Passwords } from "../../users/passwords.ts";
import type { Sessions } from "../../users/sessions.ts";
import { readAccount } from "../../users/account.ts";
import { attemptsOf, mailsTo } from "../../users/attempts.ts";
import { getUser } from "../../users/users.ts";
import {
  acceptInvitation,
  addMember,
  listInvitations,
  readInvitation,
  revokeInvitation,
  signUpInvited,
} from "./invitations.ts";
import { addedMail, invitationMail } from "./member-mails.ts";
import { changeRole, listMembers, removeMember, transferOwnership } from "./members.ts";

export interface MemberDependencies {
  database: Database;
  sealer: Sealer;
  sessions: Sessions;
  passwords: Passwords;
  rateLimiter: RateLimiter;
  baseUrl: () => string;
  /** Whether all email stays on this machine, so that the inviter must pass on the link. */
  staysHere: boolean;
}

const HOUR_SECONDS = 3600;

export function memberRoutes(deps: MemberDependencies): Route[] {
  const { database } = deps;
  return [
    ...invitationRoutes(deps),
    route(contract.listMembers, async ({ projectId }) => ok(await listMembers(database, projectId))),
    route(contract.addMember, async (call) => {
      const { projectId, body, commit } = call;
      if (!deps.staysHere && !(await readAccount(database, call.userId)).isVerified)
        throw new AppError("EMAIL_VERIFICATION_REQUIRED");
      for (const take of [additionsOf(projectId), additionsOf(call.userId), mailsTo(body.email)])
        await takeOrThrow(deps.rateLimiter, take);
      return commit(async (tx) => {
        const added = await addMember(tx, { projectId, ...body, actor: actorOf(call) });
        const inviter = (await getUser(tx, call.userId)).email;
        const { projectName: project, language } = added;
        const about = { to: body.email, language, inviter, project, role: body.role };
        if (added.status === "ADDED") {
          await enqueuePlatformEmails(tx, [addedMail({ ...about, link: deps.baseUrl() })]);
          return created({ status: added.status, member: added.member, invitation: null });
        }
        const link = `${deps.baseUrl()}/app/invitations/${added.token}`;
        await enqueuePlatformEmails(tx, [invitationMail({ ...about, link })]);
        const invitation = { ...added.invitation, link: deps.staysHere ? link : null };
        return created({ status: added.status, member: null, invitation });
      });
    }),
    route(contract.changeMember, async (call) =>
      call.commit(async (tx) =>
        ok(
          await changeRole(tx, {
            ...call.params,
            projectId: call.projectId,
            actor: actorOf(call),
            role: call.body.role,
          }),
        ),
      ),
    ),
    route(contract.removeMember, async (call) =>
      call.commit(async (tx) => {
        const removed = { ...call.params, projectId: call.projectId, actor: actorOf(call) };
        return ok(await removeMember(tx, removed, call.query.rotateKeys === true ? deps.sealer : null));
      }),
    ),
    route(contract.leaveProject, async (call) =>
      call.commit(async (tx) => {
        await removeMember(tx, { projectId: call.projectId, userId: call.userId, actor: actorOf(call) });
        return noContent();
      }),
    ),
    route(contract.transferOwnership, async (call) =>
      call.commit(async (tx) =>
        ok(
          await transferOwnership(tx, {
            projectId: call.projectId,
            userId: call.body.userId,
            actor: actorOf(call),
            ownerId: call.userId,
          }),
        ),
      ),
    ),
  ];
}

/** Limits additions per project and per inviter, because anyone can create more projects. */
const additionsOf = (id: string): Take => ({
  bucket: `member-additions:${id}`,
  limit: LIMITS.memberAdditions.value,
  windowSeconds: HOUR_SECONDS,
});

function invitationRoutes({
  database,
  sessions,
  passwords,
  rateLimiter,
  staysHere,
}: MemberDependencies): Route[] {
  const isProof = !staysHere;
  return [
    route(contract.listInvitations, async ({ projectId }) => ok(await listInvitations(database, projectId))),
    route(contract.revokeInvitation, async (call) =>
      call.commit(async (tx) => {
        await revokeInvitation(tx, { ...call.params, projectId: call.projectId, actor: actorOf(call) });
        return noContent();
      }),
    ),
    route(contract.readInvitation, async ({ params }) => ok(await readInvitation(database, params.token))),
    route(contract.acceptInvitation, async ({ params, userId, ip, commit }) =>
      commit(async (tx) => {
        const user = await getUser(tx, userId);
        return ok(await acceptInvitation(tx, { token: params.token, user, ip: ip ?? null, isProof }));
      }),
    ),
    route(contract.signUpInvited, async ({ params, body, ip, headers }) => {
      const network = networkOf(ip);
      await takeOrThrow(rateLimiter, attemptsOf(network));
      const { email, project } = await readInvitation(database, params.token);
      const chosen = { email, password: body.password, projects: [project] };
      const passwordHash = await passwords.hash(network, chosen);
      return transaction(database, async (tx) => {
        const { user, ...accepted } = await signUpInvited(tx, {
          token: params.token,
          passwordHash,
          ip: ip ?? null,
          isProof,
          language: acceptedLanguage(headers["accept-language"]),
        });
        const cookies = await sessions.start(tx, user.id, { ip, headers });
        return { ...ok({ ...user, ...accepted }), headers: { "set-cookie": cookies } };
      });
    }),
  ];
}
