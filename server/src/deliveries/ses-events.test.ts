// Checks how each type of Amazon SES notice is read. The fixtures follow its developer guide.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { newId } from "../platform/ids.ts";
import { sesEvent, sesNotification, type SentMail } from "../testing/sent-mails.ts";
import { readSesEvent, SES_ROWS } from "./ses-events.ts";

const id = newId();
const mail: SentMail = {
  projectId: newId(),
  id,
  contactId: newId(),
  address: "ada@example.com",
  providerId: "0102018c-example-000000",
  messageId: `${id}@shop.example`,
};
const read = (event: unknown) => readSesEvent(JSON.stringify(event));

const bounce = (bounceType: string, bounceSubType: string) => ({
  feedbackId: "0102-feedback",
  bounceType,
  bounceSubType,
  bouncedRecipients: [
    {
      emailAddress: "ada@example.com",
      action: "failed",
      status: "5.1.1",
      diagnosticCode: "smtp; 550 5.1.1 user unknown",
    },
  ],
  reportingMTA: "dns; a8-12.smtp-out.amazonses.com",
});
const complaint = (more: object) => ({
  feedbackId: "0102-feedback",
  complainedRecipients: [{ emailAddress: "ada@example.com" }],
  ...more,
});

/** Type, details and expected kind; at least one for each row of the table. */
const FIXTURES: ReadonlyArray<[string, object, string | null]> = [
  ["Send", {}, "sent"],
  [
    "Delivery",
    { processingTimeMillis: 546, recipients: ["ada@example.com"], smtpResponse: "250 ok" },
    "delivered",
  ],
  [
    "DeliveryDelay",
    { delayType: "MailboxFull", delayedRecipients: [{ emailAddress: "ada@example.com" }] },
    "delayed",
  ],
  ["Bounce", bounce("Permanent", "General"), "hard-bounce"],
  ["Bounce", bounce("Permanent", "NoEmail"), "hard-bounce"],
  ["Bounce", bounce("Permanent", "Suppressed"), "hard-bounce"],
  ["Bounce", bounce("Permanent", "OnAccountSuppressionList"), "hard-bounce"],
  ["Bounce", bounce("Permanent", "UnsubscribedRecipient"), "hard-bounce"],
  ["Bounce", bounce("Transient", "General"), "soft-bounce"],
  ["Bounce", bounce("Transient", "MailboxFull"), "soft-bounce"],
  ["Bounce", bounce("Transient", "CustomTimeoutExceeded"), "soft-bounce"],
  ["Bounce", bounce("Transient", "Suppressed"), "hard-bounce"],
  ["Bounce", bounce("Undetermined", "Undetermined"), "soft-bounce"],
  ["Bounce", bounce("Something", "New"), "soft-bounce"],
  ["Bounce", bounce("Transient", "MessageTooLarge"), "refused"],
  ["Bounce", bounce("Transient", "ContentRejected"), "refused"],
  ["Bounce", bounce("Transient", "AttachmentRejected"), "refused"],
  ["Bounce", bounce("Permanent", "ContentRejected"), "refused"],
  ["Complaint", complaint({ complaintFeedbackType: "abuse" }), "complaint"],
  ["Complaint", complaint({}), "complaint"],
  ["Complaint", complaint({ complaintSubType: "OnAccountSuppressionList" }), "complaint"],
  ["Complaint", complaint({ complaintFeedbackType: "not-spam" }), "not-spam"],
  ["Reject", { reason: "Bad content" }, "refused"],
  [
    "Rendering Failure",
    { templateName: "welcome", errorMessage: "Attribute 'name' is not present" },
    "refused",
  ],
  ["Open", { ipAddress: "192.0.2.1", userAgent: "Mozilla/5.0" }, "opened"],
  ["Click", { ipAddress: "192.0.2.1", link: "https://shop.example/?a=1&b=2", linkTags: null }, "clicked"],
  [
    "Subscription",
    {
      source: "UnsubscribeHeader",
      newTopicPreferences: { unsubscribeAll: true, topicSubscriptionStatus: [] },
    },
    "unsubscribed",
  ],
  [
    "Subscription",
    {
      source: "UnsubscribeHeader",
      newTopicPreferences: { unsubscribeAll: false, topicSubscriptionStatus: [] },
    },
    null,
  ],
  ["AmazonSnsSubscriptionSucceeded", {}, null],
  ["Something New", {}, null],
];

test.for(FIXTURES)("reads %s %j as %s in both formats", ([type, part, kind]) => {
  for (const event of [sesEvent(mail, type, { ...part }), sesNotification(mail, type, { ...part })])
    expect(read(event)?.reports[0]?.kind ?? null).toBe(kind);
});

test("a fixture reaches every row of the table", () => {
  const reached = FIXTURES.map(([type, part]) => {
    const { bounceType, bounceSubType, complaintFeedbackType, newTopicPreferences } = part as Record<
      string,
      unknown
    >;
    return SES_ROWS.findIndex(
      (row) =>
        row.type === type &&
        (row.bounceType === undefined || row.bounceType === bounceType) &&
        (row.subTypes === undefined || row.subTypes.includes(String(bounceSubType))) &&
        (row.feedbackType === undefined || row.feedbackType === complaintFeedbackType) &&
        (row.unsubscribesAll === undefined || JSON.stringify(newTopicPreferences).includes("true")),
    );
  });
  expect(SES_ROWS.map((_, at) => at).filter((at) => !reached.includes(at))).toEqual([]);
});

test("finds the email by our tags or, in feedback notifications, by our Message-ID", () => {
  const tagged = { projectId: mail.projectId, emailId: mail.id, providerId: mail.providerId };
  expect(read(sesEvent(mail, "Delivery"))?.reports[0]?.names).toEqual(tagged);
  const untagged = { ...tagged, projectId: null };
  expect(read(sesNotification(mail, "Delivery"))?.reports[0]?.names).toEqual(untagged);
  expect(read(sesNotification(mail, "Delivery", {}, { headers: [] }))?.reports[0]?.names).toEqual(untagged);
  const foreign = { headers: [], commonHeaders: { messageId: "<42@elsewhere.example>" } };
  expect(read(sesNotification(mail, "Delivery", {}, foreign))?.reports[0]?.names).toEqual({
    projectId: null,
    emailId: null,
    providerId: mail.providerId,
  });
});

test("reads recipients, time and reason", () => {
  const at = "2026-02-03T04:05:06.789Z";
  expect(
    read(sesEvent(mail, "Bounce", { ...bounce("Permanent", "NoEmail"), timestamp: at }))?.reports[0],
  ).toMatchObject({
    recipients: ["ada@example.com"],
    at: new Date(at),
    data: { reason: "Permanent NoEmail smtp; 550 5.1.1 user unknown" },
  });
  const link = "https://shop.example/?a=1&b=2";
  expect(read(sesEvent(mail, "Click", { link }))?.reports[0]).toMatchObject({
    recipients: null,
    data: { link },
  });
});

test("classifies a permanent SES bounce by the server's words, so a blocklist is about us", () => {
  const event = bounce("Permanent", "General");
  const [first] = event.bouncedRecipients;
  const blocked = {
    ...event,
    bouncedRecipients: [
      { ...first, status: "5.7.1", diagnosticCode: "smtp; 550 5.7.1 client host blocked using a list" },
    ],
  };
  expect(read(sesEvent(mail, "Bounce", blocked))?.reports[0]).toMatchObject({
    kind: "refused",
    data: { cause: "reputation", refusedBy: "example.com" },
  });
  expect(read(sesEvent(mail, "Bounce", event))?.reports[0]).toMatchObject({
    kind: "hard-bounce",
    data: { cause: "unknown-user", refusedBy: "example.com" },
  });
});

test.for([
  [
    "General",
    "5.2.1",
    "smtp; 550-5.2.1 The email account that you tried to reach is disabled",
    "soft-bounce",
  ],
  ["NoEmail", "5.2.2", "smtp; 552 5.2.2 mailbox full", "soft-bounce"],
  ["General", "5.0.0", undefined, "soft-bounce"],
  ["General", "5.1.1", undefined, "hard-bounce"],
  ["General", undefined, undefined, "hard-bounce"],
  ["Suppressed", "5.2.1", "smtp; 550 5.2.1 The email account is disabled", "hard-bounce"],
  ["OnAccountSuppressionList", "5.1.0", "Amazon SES has suppressed sending to this address", "hard-bounce"],
  ["Suppressed", "5.7.1", "smtp; 550 5.7.1 client host blocked using a list", "hard-bounce"],
  ["UnsubscribedRecipient", "5.2.1", "smtp; 550 5.2.1 disabled", "hard-bounce"],
] as const)(
  "classifies a bounce by the server's words or an SES list: %s, %s, %s is a %s",
  ([subType, status, diagnosticCode, kind]) => {
    const event = {
      ...bounce("Permanent", subType),
      bouncedRecipients: [{ emailAddress: "ada@example.com", action: "failed", status, diagnosticCode }],
    };
    expect(read(sesEvent(mail, "Bounce", event))?.reports.map((report) => report.kind)).toEqual([kind]);
  },
);

test("reads a separate outcome for each of several bounced addresses", () => {
  const event = bounce("Permanent", "General");
  const [gone] = event.bouncedRecipients;
  const full = {
    emailAddress: "bob@example.net",
    status: "5.2.2",
    diagnosticCode: "smtp; 552 5.2.2 mailbox full",
  };
  const reports = read(sesEvent(mail, "Bounce", { ...event, bouncedRecipients: [full, gone] }))?.reports;
  expect(reports).toMatchObject([
    { kind: "soft-bounce", recipients: ["bob@example.net"], data: { cause: "mailbox-full" } },
    { kind: "hard-bounce", recipients: ["ada@example.com"], data: { cause: "unknown-user" } },
  ]);
});

test("gives the same event the same key in every format and other events other keys", () => {
  const timestamp = "2026-02-03T04:05:06.789Z";
  const key = (part: object, type = "Click") => read(sesEvent(mail, type, { timestamp, ...part }))?.key;
  expect(key({ link: "https://a.example" })).toEqual(expect.any(String));
  expect(key({ link: "https://a.example" })).toBe(key({ link: "https://a.example", userAgent: "another" }));
  expect(key({ link: "https://a.example" })).not.toBe(key({ link: "https://b.example" }));
  expect(key({ timestamp: "2026-02-03T04:05:06.790Z" })).not.toBe(key({}));
  expect(key({}, "Open")).not.toBe(key({}));
  expect(key({}, "Something New")).toBeNull();
});

test("never throws for any text or JSON and returns only values the database accepts", () => {
  expect(read([])).toBeNull();
  expect(readSesEvent("Successfully validated SNS topic for Amazon SES event publishing.")).toBeNull();
  const types = SES_ROWS.flatMap(({ type, part }) => [type, part]);
  const keys = [
    "eventType",
    "notificationType",
    "mail",
    "tags",
    "headers",
    "timestamp",
    "messageId",
    "link",
    ...types,
  ];
  const anyValue = fc.oneof(
    fc.constantFrom<unknown>(...types),
    fc.jsonValue(),
    fc.constant("a\u0000b\ud800"),
    fc.constant({ timestamp: "+275760-09-13" }),
  );
  const anyEvent = fc.dictionary(fc.constantFrom(...keys), anyValue);
  // Random JSON alone is never an event, so most samples are SES events with a few values replaced.
  const almostEvent = fc
    .tuple(
      fc.constantFrom(...FIXTURES),
      fc.array(fc.tuple(fc.nat(200), anyValue), { maxLength: 3 }),
      fc.boolean(),
    )
    .map(([[type, details], changes, isNotice]) => {
      const whole: unknown = structuredClone(
        (isNotice ? sesNotification : sesEvent)(mail, type, { ...details }),
      );
      for (const [at, value] of changes) replaceNth(whole, at, structuredClone(value));
      return whole;
    });
  let reports = 0;
  fc.assert(
    fc.property(
      fc.oneof({ weight: 1, arbitrary: anyEvent }, { weight: 4, arbitrary: almostEvent }),
      (event) => {
        const [report] = read(event)?.reports ?? [];
        if (report !== undefined) reports++;
        expect(JSON.stringify(read(event)?.reports ?? [])).not.toMatch(/\\u0000|\\ud800/);
        expect(report?.at?.getUTCFullYear() ?? 2026).toBeLessThan(2200);
      },
    ),
    { numRuns: 500 },
  );
  expect(reports).toBeGreaterThan(50);
});

/** Replaces the nth nested value with `value`, counted from the outside and wrapping around. */
function replaceNth(whole: unknown, nth: number, value: unknown): void {
  const places: Array<[Record<string, unknown>, string]> = [];
  const hit = (within: unknown): void => {
    if (typeof within !== "object" || within === null) return;
    for (const [name, item] of Object.entries(within)) {
      places.push([within as Record<string, unknown>, name]);
      hit(item);
    }
  };
  hit(whole);
  const [host, name] = places[nth % places.length] ?? [];
  if (host !== undefined && name !== undefined) host[name] = value;
}
