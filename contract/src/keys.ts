// Endpoints for scoped keys, which allow a part of a project's API (docs/decisions/0046-scoped-keys.md).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { inputInstant, instant, pathId, rule } from "./field.ts";
import { nameText } from "./name-text.ts";
import { LIMITS } from "./limits/limits.ts";
import { doWrite, SCOPES, TEST_SCOPE } from "./scopes.ts";
import { withValues } from "./translation.ts";

const network = z
  .string()
  .refine(
    (text) => [z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()].some((form) => form.safeParse(text).success),
    {
      message: "Must be an IP address, or a network such as 192.0.2.0/24.",
      params: { code: "invalid_string" },
    },
  );

const scopedKey = z.object({
  id: z.uuid(),
  name: z.string(),
  scopes: z.array(z.string()),
  role: z.enum(["ADMIN", "MEMBER"]).describe("The maximum permissions of the key."),
  networks: z.array(z.string()).describe("Addresses and networks from which it can be used; empty for any."),
  expiresAt: instant.nullable(),
  lastUsedAt: instant.nullable().describe("Accurate to the minute; null if never used."),
  createdBy: z.uuid().describe("The user who created it."),
  createdAt: instant,
});

const ofProject = z.object({ projectId: pathId });

export const listKeys = endpoint({
  name: "keys.list",
  method: "GET",
  path: "/projects/:projectId/keys",
  summary: "List the scoped keys of a project, newest first",
  description:
    "A MEMBER sees the keys they created, an ADMIN sees all. The keys themselves are not included, because only a hash is stored.",
  caller: "member",
  params: ofProject,
  envelope: "wrapped",
  responses: { 200: z.array(scopedKey) },
});

export const createKey = endpoint({
  name: "keys.create",
  method: "POST",
  path: "/projects/:projectId/keys",
  summary: "Create a secret key for a part of the API",
  description:
    "The response contains `key` only this once. A scope is a noun of the API, or `*` for all, with `read` or `write`; `write` includes `read`. " +
    "`*` does not include `secrets`, which covers the webhook signing secret and links that act for a contact. " +
    "A key never has more permissions than its creator: if an ADMIN becomes a MEMBER, their keys get the role MEMBER. " +
    `\`${TEST_SCOPE}\` makes a test key. Its emails stay in the local mailbox (\`GET /mailbox/messages\`) and are left out of reports. The \`data\` of its calls is used for the email but not stored. ` +
    `A project can have up to ${LIMITS.scopedKeys.value} scoped keys. \`regenerate-keys\` does not affect them. They are revoked when their creator is removed from the project.`,
  caller: "member",
  params: ofProject,
  body: z.object({
    name: nameText,
    scopes: z
      .array(z.enum(SCOPES as [string, ...string[]]))
      .min(1)
      .max(SCOPES.length)
      .refine(
        (scopes) => !scopes.includes(TEST_SCOPE) || !doWrite(scopes),
        rule(
          withValues(
            "Only read scopes can be combined with `{scope}`, because a write scope could send real email.",
            { scope: TEST_SCOPE },
          ),
          "custom",
        ),
      ),
    networks: z
      .array(network)
      .max(LIMITS.keyNetworks.value)
      .default([])
      .describe("IP addresses and networks from which it can be used; empty for any."),
    expiresAt: inputInstant.nullable().default(null).describe("Expiry time; null for none."),
  }),
  envelope: "wrapped",
  responses: { 201: scopedKey.extend({ key: z.string() }) },
  errors: ["CONFLICT"],
});

export const revokeKey = endpoint({
  name: "keys.revoke",
  method: "DELETE",
  path: "/projects/:projectId/keys/:keyId",
  summary: "Revoke a scoped key immediately",
  description:
    "A MEMBER can revoke the keys they created, an ADMIN all of them. Also possible in a disabled project, so that a leaked key can be revoked.",
  caller: "member",
  isOpenWhenDisabled: true,
  params: ofProject.extend({ keyId: pathId }),
  responses: { 204: null },
  errors: ["KEY_NOT_FOUND"],
});
