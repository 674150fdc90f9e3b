// Endpoints for scoped keys, which open a part of a project's API (docs/decisions/0046-scoped-keys.md).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { givenInstant, hasControlCharacters, instant, pathId } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";
import { doWrite, SCOPES, TEST_SCOPE } from "./scopes.ts";

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
  role: z.enum(["ADMIN", "MEMBER"]).describe("The key can do at most what this role can."),
  networks: z.array(z.string()).describe("From where it may be used; none: from anywhere."),
  expiresAt: instant.nullable(),
  lastUsedAt: instant.nullable().describe("To the minute; null: never."),
  createdBy: z.uuid().describe("The user who made it."),
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
  answers: { 200: z.array(scopedKey) },
});

export const createKey = endpoint({
  name: "keys.create",
  method: "POST",
  path: "/projects/:projectId/keys",
  summary: "Make a secret key that opens a part of the API",
  description:
    "`key` in the answer is shown this once. A scope is a noun of the API, or `*` for all, with `read` or `write`; `write` includes `read`. " +
    "`*` does not include `secrets`, which opens the webhook signing secret and links that act for a contact. " +
    "A key can do at most what its creator can: an ADMIN who becomes a MEMBER keeps their keys with the role MEMBER. " +
    `\`${TEST_SCOPE}\` makes a test key: what it sends stays in the local mailbox (\`GET /mailbox/messages\`) and counts nowhere, and the \`data\` of its calls is used in their mail and not stored. ` +
    `A project has at most ${LIMITS.scopedKeys.value} of them. \`regenerate-keys\` leaves them alone; they are revoked with the member who made them.`,
  caller: "member",
  params: ofProject,
  body: z.object({
    name: z
      .string()
      .trim()
      .min(1)
      .max(LIMITS.nameLength.value)
      .refine((name) => !hasControlCharacters(name), {
        message: "Must not contain line breaks or control characters.",
        params: { code: "invalid_string" },
      }),
    scopes: z
      .array(z.enum(SCOPES as [string, ...string[]]))
      .min(1)
      .max(SCOPES.length)
      .refine((scopes) => !scopes.includes(TEST_SCOPE) || !doWrite(scopes), {
        message: `Beside \`${TEST_SCOPE}\` only scopes that read: what else it wrote could send mail that leaves.`,
        params: { code: "custom" },
      }),
    networks: z
      .array(network)
      .max(LIMITS.keyNetworks.value)
      .default([])
      .describe("IP addresses and networks from which it may be used; none: from anywhere."),
    expiresAt: givenInstant.nullable().default(null).describe("When it stops working; null: never."),
  }),
  envelope: "wrapped",
  answers: { 201: scopedKey.extend({ key: z.string() }) },
  errors: ["CONFLICT"],
});

export const revokeKey = endpoint({
  name: "keys.revoke",
  method: "DELETE",
  path: "/projects/:projectId/keys/:keyId",
  summary: "Revoke a scoped key; it stops working at once",
  description:
    "A MEMBER can revoke the keys they created, an ADMIN all of them. A disabled project may do so too: a key that leaked must go.",
  caller: "member",
  isOpenWhenDisabled: true,
  params: ofProject.extend({ keyId: pathId }),
  answers: { 204: null },
  errors: ["KEY_NOT_FOUND"],
});
