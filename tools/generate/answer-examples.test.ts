// Tests that documented responses match the current service and the contract. `WRITE_EXAMPLES=1 npm test -- answer-examples` records them
// again.
import { writeFile } from "node:fs/promises";
import path from "node:path";
import examples from "@postloft/contract/answer-examples.json" with { type: "json" };
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { beforeAll, expect, test } from "vitest";
import { addReceivedEmails, type ToReceive } from "../../server/src/testing/received-email.ts";
import { useTestServer } from "../../server/src/testing/test-server.ts";
import { asExamples, recordResponses } from "./answer-examples.ts";
import { differences } from "./differences.ts";
import type { Responses } from "./answer-story.ts";
import { ROOT } from "./generated-files.ts";

const AUTHENTICATION: ToReceive["authentication"] = {
  verified: true,
  spf: { result: "pass", domain: "example.com" },
  dkim: [{ result: "pass", domain: "example.com" }],
  dmarc: { result: "pass", domain: "example.com", policy: "reject" },
};

const server = useTestServer();
const RECORDING_MS = 120_000;
let recorded: Responses = {};

beforeAll(async () => {
  const responses = await recordResponses(server.url, async (projectId) => {
    await addReceivedEmails(server.database, projectId, [{ authentication: AUTHENTICATION }]);
  });
  recorded = asExamples(responses, server.url);
  if (process.env["WRITE_EXAMPLES"] === "1")
    await writeFile(
      path.join(ROOT, "contract/src/answer-examples.json"),
      `${JSON.stringify(recorded, null, 2)}\n`,
    );
}, RECORDING_MS);

/** Responses that a small project cannot produce. */
const NOT_RECORDED: Readonly<Record<string, string>> = {
  "billing.checkout": "only with an account of Stripe",
  "billing.invoices": "only with an account of Stripe",
  "billing.portal": "only with an account of Stripe",
  "webhooks.stripe": "only for what Stripe has signed",
  "auth.completeSignup": "the link of an email",
  "auth.resetPassword": "the link of a mail",
  "auth.verifyEmail": "the link of a mail",
  "campaigns.pause": "the campaign, in the middle of sending",
  "campaigns.release": "the campaign, which a destination refuses",
  "campaigns.resolve": "the campaign, with mails in doubt",
  "campaigns.resume": "the campaign, in the middle of sending",
  "campaigns.retryFailed": "the campaign, with refused recipients",
  "emails.release": "destinations that refuse list mail",
  "emails.resolve": "the mail, which was in doubt",
  "emails.returned": "a message that came back over SMTP",
  "executions.listFailures": "executions that failed",
  "executions.retry": "executions that failed",
  "executions.retryStep": "executions that failed",
  "executions.skip": "executions that failed",
  "executions.skipStep": "executions that failed",
  "installation.backups": "only for an instance admin",
  "installation.createBackup": "only for an instance admin",
  "installation.enableProject": "only for an instance admin",
  "installation.get": "only for an instance admin",
  "installation.projects": "only for an instance admin",
  "installation.sendTest": "only for an instance admin",
  "installation.suspendProject": "only for an instance admin",
  "installation.testBackup": "only for an instance admin",
  "installation.testTransports": "only for an instance admin",
  "invitations.accept": "an account that was made after the invitation",
  "mailbox.system": "only with a setting",
  "notifications.testWebhook": "an endpoint on the public internet",
  "webhooks.getDelivery": "an endpoint on the public internet",
  "webhooks.listDeliveries": "an endpoint on the public internet",
  "webhooks.resendDelivery": "an endpoint on the public internet",
  "webhooks.testEndpoint": "an endpoint on the public internet",
  "auth.passkeyLogin": "the passkey of an authenticator",
  "users.addPasskey": "the passkey of an authenticator",
  "users.renamePasskey": "the passkey of an authenticator",
  "users.confirmSecondFactor": "a code of an authenticator app",
  "users.renewRecoveryCodes": "a code of an authenticator app",
  "projects.testTransport": "a server on the public internet",
  "projects.enable": "the project, which was disabled",
  "webhooks.sns": "only for what Amazon has signed",
};

const responding = ENDPOINTS.filter(
  ({ name, envelope, responses }) =>
    (envelope === "bare" || envelope === "wrapped") &&
    Object.values(responses).some((schema) => schema !== null) &&
    !(name in NOT_RECORDED),
);

test("every JSON endpoint has a recorded response; record one in answer-examples.ts", () => {
  const names = responding.map(({ name }) => name).toSorted();
  expect(Object.keys(recorded).toSorted()).toEqual(names);
  expect(Object.keys(examples).toSorted()).toEqual(names);
});

test("current responses have the same structure as the recorded ones", () => {
  expect(differences(recorded, examples)).toEqual([]);
});

test("every recorded response matches the contract", () => {
  const unfit = responding.flatMap(({ name, responses, envelope }) => {
    const input = recorded[name] as { data?: unknown };
    const said = envelope === "wrapped" ? input.data : input;
    const schemas = Object.values(responses).filter((schema) => schema !== null);
    const faults = schemas.map((schema) => schema.safeParse(said).error?.issues ?? []);
    return faults.some((issues) => issues.length === 0) ? [] : [{ name, faults }];
  });
  expect(unfit).toEqual([]);
});

test("reports missing fields and values of another type", () => {
  expect(differences({ a: 1, b: [{ c: "x" }], d: null }, { a: "1", b: [{}], d: 2, e: 1 })).toEqual([
    ".a",
    ".b[].c",
    ".e",
  ]);
});
