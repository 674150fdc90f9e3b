// Endpoints for the members of a project and its invitations (spec §4.13; decisions §2).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { emailAddress, id, instant, pathId, queryBoolean } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { ROLES } from "./roles.ts";
import { account, password } from "./users.ts";

const member = z.object({
  userId: z.uuid(),
  email: z.string(),
  role: z.enum(ROLES),
  couldSeeSecretKey: z
    .boolean()
    .describe("Whether the member can see the current secret key, or could in an earlier role."),
  createdAt: instant.describe("Since when they are a member."),
});
const invitation = z.object({
  id: z.uuid(),
  email: z.string(),
  role: z.enum(ROLES),
  createdAt: instant,
  expiresAt: instant,
});
const link = z
  .string()
  .nullable()
  .describe(
    "Where the invitation is accepted; null where it goes by mail, as it does once mail leaves the machine.",
  );
const givenRole = z.enum(["ADMIN", "MEMBER"]);
const ofProject = z.object({ projectId: pathId });
const ofMember = ofProject.extend({ userId: pathId });
const byToken = z.object({ token: z.string() });

export const listMembers = endpoint({
  name: "members.list",
  method: "GET",
  path: "/projects/:projectId/members",
  summary: "List the members of a project",
  description: "The first member first.",
  caller: "project-by-path",
  params: ofProject,
  envelope: "wrapped",
  answers: { 200: z.array(member) },
});

export const addMember = endpoint({
  name: "members.add",
  method: "POST",
  path: "/projects/:projectId/members",
  summary: "Add a member, or invite somebody who has no account yet",
  description:
    `Whoever has an account of an address that is proved is a member at once and told so by mail. To anybody else a link is sent with which they come in, and make their account if they have none; it holds for ${LIMITS.invitationDays.value} days, and inviting the same address again replaces it. ` +
    "Nobody becomes an OWNER this way: see `transfer-ownership`. When email leaves the machine, your own address must be confirmed (403), because this server sends the email in its own name.",
  caller: "member",
  leastRole: "ADMIN",
  params: ofProject,
  body: z.object({ email: emailAddress, role: givenRole.default("MEMBER") }),
  envelope: "wrapped",
  answers: {
    201: z.object({
      status: z.enum(["ADDED", "INVITED"]),
      member: member.nullable(),
      invitation: invitation.extend({ link }).nullable(),
    }),
  },
  errors: ["CONFLICT", "EMAIL_VERIFICATION_REQUIRED", "RATE_LIMIT_EXCEEDED"],
});

export const changeMember = endpoint({
  name: "members.changeRole",
  method: "PATCH",
  path: "/projects/:projectId/members/:userId",
  summary: "Change the role of a member",
  description:
    "Only an OWNER gives or takes the role OWNER (403), and the last OWNER keeps it (409). It counts from the member's next request. The open invitations of whoever may invite no longer are withdrawn. The scoped keys of an ADMIN who becomes a MEMBER keep working with the role MEMBER.",
  caller: "member",
  leastRole: "ADMIN",
  params: ofMember,
  body: z.object({ role: z.enum(ROLES) }),
  envelope: "wrapped",
  answers: { 200: member },
  errors: ["MEMBER_NOT_FOUND", "CONFLICT", "FORBIDDEN"],
});

export const removeMember = endpoint({
  name: "members.remove",
  method: "DELETE",
  path: "/projects/:projectId/members/:userId",
  summary: "Remove a member",
  description:
    "They are out at their next request. An OWNER cannot be removed (409): change the role first. The open invitations they sent are withdrawn, and the scoped keys they made are revoked: programs that use one need another first. `couldSeeSecretKey` says whether they could see the secret key of the project: `rotateKeys` replaces both keys in the same step, `regenerate-keys` does so later. A disabled project may do so too.",
  caller: "member",
  leastRole: "ADMIN",
  isOpenWhenDisabled: true,
  params: ofMember,
  query: z.object({
    rotateKeys: queryBoolean("Whether to replace both API keys, as `regenerate-keys` does.").optional(),
  }),
  envelope: "wrapped",
  answers: {
    200: z.object({
      couldSeeSecretKey: z
        .boolean()
        .describe("Whether the removed member could see the secret key that was valid until now."),
      keys: z
        .object({ public: z.string(), secret: z.string() })
        .nullable()
        .describe("The new keys; null without `rotateKeys`."),
    }),
  },
  errors: ["MEMBER_NOT_FOUND", "CONFLICT"],
});

export const leaveProject = endpoint({
  name: "members.leave",
  method: "POST",
  path: "/projects/:projectId/leave",
  summary: "Leave a project",
  description:
    "An OWNER cannot leave (409): transfer the ownership first. The open invitations you sent are withdrawn, and the scoped keys you made are revoked.",
  caller: "member",
  isOpenWhenDisabled: true,
  params: ofProject,
  answers: { 204: null },
  errors: ["CONFLICT"],
});

export const transferOwnership = endpoint({
  name: "members.transferOwnership",
  method: "POST",
  path: "/projects/:projectId/transfer-ownership",
  summary: "Make another member the OWNER in your place",
  description: "You become an ADMIN in the same moment.",
  caller: "member",
  leastRole: "OWNER",
  params: ofProject,
  body: z.object({ userId: id }),
  envelope: "wrapped",
  answers: { 200: z.array(member) },
  errors: ["MEMBER_NOT_FOUND", "CONFLICT"],
});

export const listInvitations = endpoint({
  name: "invitations.list",
  method: "GET",
  path: "/projects/:projectId/invitations",
  summary: "List the invitations that wait, newest first",
  description: `At most ${LIMITS.pendingInvitations.value} wait at a time; those that are over are not listed.`,
  caller: "project-by-path",
  leastRole: "ADMIN",
  params: ofProject,
  envelope: "wrapped",
  answers: { 200: z.array(invitation) },
});

export const revokeInvitation = endpoint({
  name: "invitations.revoke",
  method: "DELETE",
  path: "/projects/:projectId/invitations/:invitationId",
  summary: "Revoke an invitation; its link is dead at once",
  description: "A disabled project may do so too.",
  caller: "member",
  leastRole: "ADMIN",
  isOpenWhenDisabled: true,
  params: ofProject.extend({ invitationId: pathId }),
  answers: { 204: null },
  errors: ["INVITATION_NOT_FOUND"],
});

export const readInvitation = endpoint({
  name: "invitations.read",
  method: "GET",
  path: "/invitations/:token",
  summary: "Read the invitation behind a link",
  description: "For the page that the link opens. Reading changes nothing.",
  caller: "anyone",
  params: byToken,
  envelope: "wrapped",
  answers: {
    200: z.object({
      project: z.string().describe("Its name."),
      email: z.string(),
      role: z.enum(ROLES),
      expiresAt: instant,
      hasAccount: z.boolean().describe("Whether to log in and accept, or to make an account."),
    }),
  },
  errors: ["INVITATION_NOT_FOUND"],
});

export const acceptInvitation = endpoint({
  name: "invitations.accept",
  method: "POST",
  path: "/invitations/:token/accept",
  summary: "Accept an invitation with your account",
  description: "Of the address that was invited; any other gets 403.",
  caller: "session",
  params: byToken,
  envelope: "wrapped",
  answers: { 200: z.object({ projectId: z.uuid(), role: z.enum(ROLES) }) },
  errors: ["INVITATION_NOT_FOUND", "FORBIDDEN"],
});

export const signUpInvited = endpoint({
  name: "invitations.signUp",
  method: "POST",
  path: "/invitations/:token/sign-up",
  summary: "Make an account for the address that was invited, accept, and log in",
  description:
    "Works with `DISABLE_SIGNUPS`, too: whoever was invited may come in. 409 when the address has an account.",
  caller: "anyone",
  params: byToken,
  body: z.object({ password }),
  envelope: "wrapped",
  answers: { 200: account.extend({ projectId: z.uuid(), role: z.enum(ROLES) }) },
  errors: ["INVITATION_NOT_FOUND", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});
