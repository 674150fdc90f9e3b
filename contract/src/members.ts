// Endpoints for the members of a project and its invitations (spec §4.13; decisions §2).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { emailAddress, id, instant, pathId, queryBoolean } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { ROLES } from "./roles.ts";
import { account, password } from "./users.ts";

export const member = z.object({
  userId: z.uuid(),
  email: z.string(),
  role: z.enum(ROLES),
  couldSeeSecretKey: z
    .boolean()
    .describe("Whether the member can see the current secret key, or could in a previous role."),
  createdAt: instant.describe("The time at which they became a member."),
});
export const invitation = z.object({
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
    "The link to accept the invitation; null if it was sent by email, which is the case once email is configured.",
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
  description: "In order of joining.",
  caller: "project-by-path",
  params: ofProject,
  envelope: "wrapped",
  responses: { 200: z.array(member) },
});

export const addMember = endpoint({
  name: "members.add",
  method: "POST",
  path: "/projects/:projectId/members",
  summary: "Add a member, or invite a person without an account",
  description:
    `A person with a confirmed account becomes a member immediately and is notified by email. Anyone else gets a link to join, and to create an account if necessary. The link is valid for ${LIMITS.invitationDays.value} days, and inviting the same address again replaces it. ` +
    "This cannot add an OWNER; use `transfer-ownership`. If email is configured, your own address must be confirmed (403), because this server sends the email in its own name.",
  caller: "member",
  leastRole: "ADMIN",
  params: ofProject,
  body: z.object({ email: emailAddress, role: givenRole.default("MEMBER") }),
  envelope: "wrapped",
  responses: {
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
    "Only an OWNER can grant or remove the role OWNER (403), and the last OWNER keeps it (409). The change applies from the member's next request. If the member can no longer invite people, their open invitations are withdrawn. The scoped keys of an ADMIN who becomes a MEMBER keep working with the role MEMBER.",
  caller: "member",
  leastRole: "ADMIN",
  params: ofMember,
  body: z.object({ role: z.enum(ROLES) }),
  envelope: "wrapped",
  responses: { 200: member },
  errors: ["MEMBER_NOT_FOUND", "CONFLICT", "FORBIDDEN"],
});

export const removeMember = endpoint({
  name: "members.remove",
  method: "DELETE",
  path: "/projects/:projectId/members/:userId",
  summary: "Remove a member",
  description:
    "Takes effect at the member's next request. An OWNER cannot be removed (409), so change the role first. The member's open invitations are withdrawn and their scoped keys are revoked, so programs with such a key need another one. `couldSeeSecretKey` says whether they could see the project's secret key. `rotateKeys` replaces both keys in the same step, and `regenerate-keys` does so later. Also possible in a disabled project.",
  caller: "member",
  leastRole: "ADMIN",
  isOpenWhenDisabled: true,
  params: ofMember,
  query: z.object({
    rotateKeys: queryBoolean("Whether to replace both API keys, as `regenerate-keys` does.").optional(),
  }),
  envelope: "wrapped",
  responses: {
    200: z.object({
      couldSeeSecretKey: z
        .boolean()
        .describe("Whether the removed member could see the previously valid secret key."),
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
    "An OWNER cannot leave (409), so transfer the ownership first. Your open invitations are withdrawn and your scoped keys are revoked.",
  caller: "member",
  isOpenWhenDisabled: true,
  params: ofProject,
  responses: { 204: null },
  errors: ["CONFLICT"],
});

export const transferOwnership = endpoint({
  name: "members.transferOwnership",
  method: "POST",
  path: "/projects/:projectId/transfer-ownership",
  summary: "Transfer your OWNER role to another member",
  description: "You become an ADMIN in the same step.",
  caller: "member",
  leastRole: "OWNER",
  params: ofProject,
  body: z.object({ userId: id }),
  envelope: "wrapped",
  responses: { 200: z.array(member) },
  errors: ["MEMBER_NOT_FOUND", "CONFLICT"],
});

export const listInvitations = endpoint({
  name: "invitations.list",
  method: "GET",
  path: "/projects/:projectId/invitations",
  summary: "List pending invitations, newest first",
  description: `A project can have up to ${LIMITS.pendingInvitations.value} pending invitations. Ended ones are not listed.`,
  caller: "project-by-path",
  leastRole: "ADMIN",
  params: ofProject,
  envelope: "wrapped",
  responses: { 200: z.array(invitation) },
});

export const revokeInvitation = endpoint({
  name: "invitations.revoke",
  method: "DELETE",
  path: "/projects/:projectId/invitations/:invitationId",
  summary: "Revoke an invitation and its link immediately",
  description: "Also possible in a disabled project.",
  caller: "member",
  leastRole: "ADMIN",
  isOpenWhenDisabled: true,
  params: ofProject.extend({ invitationId: pathId }),
  responses: { 204: null },
  errors: ["INVITATION_NOT_FOUND"],
});

export const readInvitation = endpoint({
  name: "invitations.read",
  method: "GET",
  path: "/invitations/:token",
  summary: "Read the invitation of a link",
  description: "For the page opened by the link. Reading changes nothing.",
  caller: "anyone",
  params: byToken,
  envelope: "wrapped",
  responses: {
    200: z.object({
      project: z.string().describe("The name of the project."),
      email: z.string(),
      role: z.enum(ROLES),
      expiresAt: instant,
      hasAccount: z
        .boolean()
        .describe("Whether the address has an account, which decides between signing in and creating one."),
    }),
  },
  errors: ["INVITATION_NOT_FOUND"],
});

export const acceptInvitation = endpoint({
  name: "invitations.accept",
  method: "POST",
  path: "/invitations/:token/accept",
  summary: "Accept an invitation with your account",
  description: "Only the account of the invited address can accept; any other gets 403.",
  caller: "session",
  params: byToken,
  envelope: "wrapped",
  responses: { 200: z.object({ projectId: z.uuid(), role: z.enum(ROLES) }) },
  errors: ["INVITATION_NOT_FOUND", "FORBIDDEN"],
});

export const signUpInvited = endpoint({
  name: "invitations.signUp",
  method: "POST",
  path: "/invitations/:token/sign-up",
  summary: "Create an account for the invited address, accept, and sign in",
  description:
    "Also works with `DISABLE_SIGNUPS`, because the person was invited. 409 if the address has an account.",
  caller: "anyone",
  params: byToken,
  body: z.object({ password }),
  envelope: "wrapped",
  responses: { 200: account.extend({ projectId: z.uuid(), role: z.enum(ROLES) }) },
  errors: ["INVITATION_NOT_FOUND", "CONFLICT", "RATE_LIMIT_EXCEEDED"],
});
