// Tests that no loop over user input blocks the serving thread, by feeding each the worst input. Every file with a counting or waiting loop
// must be listed in FED or in OVER, which says what its loops iterate over.
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseAddress, parseDisplayName, parseDomain, parseMailbox } from "@postloft/contract/address.ts";
import { parseMailboxList } from "@postloft/contract/mailbox-list.ts";
import { ownKey } from "@postloft/contract/contact-file/field-names.ts";
import { findTable } from "@postloft/contract/contact-file/find-table.ts";
import { escapeAround } from "@postloft/contract/design-html.ts";
import { problemsOfDesign } from "@postloft/contract/design.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { decodeEntities } from "@postloft/contract/merge-tags/entities.ts";
import { findMergeTags } from "@postloft/contract/merge-tags/find-merge-tags.ts";
import { createCsvReader } from "@postloft/contract/read-csv.ts";
import { readRecordedReason } from "@postloft/contract/recorded-reasons.ts";
import { isReturnPath } from "../../server/src/deliveries/return-path.ts";
import { bodySha256 } from "../../server/src/message/body-hash.ts";
import { relaxedLines } from "../../server/src/message/quoted-printable.ts";
import { findHostileValues, parseJson } from "../../server/src/platform/http/body.ts";
import { closestName } from "../../contract/src/closest-name.ts";
import { nearestPath, withGuesses } from "../../server/src/platform/http/guesses.ts";
import { inboxTextOf } from "../../server/src/rendering/inbox-text.ts";
import { createLocator } from "../../server/src/rendering/source-position.ts";
import { scanTemplate } from "../../server/src/rendering/scan-template.ts";
import { resolveMarks } from "../../server/src/rendering/text-part.ts";
import { variableWarnings } from "../../server/src/templates/lint-variables.ts";
import { toWireBody } from "../../server/src/transports/smtp-body.ts";
import { createReplyReader } from "../../server/src/transports/smtp-replies.ts";
import { suggestDomain } from "../../server/src/v1/verify-rules.ts";
import { visit, type SourceFile } from "./source.ts";
import { cpuMsOf, tooLongMsOf } from "./thread-time.ts";
import { isGenerated, isTest, readTree } from "./tree.ts";

const PRODUCT = /^(server\/src|contract\/src)\//;
/** The maximum size of a request body. */
const LENGTH = LIMITS.bodyBytes.value;
/** The maximum bytes a connection delivers in one turn of the event loop. */
const READ_LENGTH = 64 * 1024;

/** Repeats a unit to the full length. */
const filled = (unit: string, length = LENGTH) =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
const ADDRESSES = ["a", "@", '"', "\\", ".", "(", "a@", "a.", '"\\'].map((unit) => filled(unit));
const BODIES = ["{},", "[", '"', "\\", "a", '{"a":', "[],", '"\\"'].map((unit) => Buffer.from(filled(unit)));
const CSV = ["a", ",", '"', '""', "\n", "\r", '",', '"\n', ";", " "].map((unit) => `email\n${filled(unit)}`);
const TEMPLATES = ["{", "{{", "{{{", "}}", "{{!--", '{{"', "{{[", "a\n", "{{a}}", "<a", "&amp;"];
const TAGS = ["*|A|*", "*|IF:A|*", "{%", "{% if a %}", "{{a | b}}", "%A%", "%recipient.a%", "{$a}", "{{{{/"];
const FACTS = { projectName: "a", postalAddress: "a", year: 2026 };
const readAll = (text: string, separator: string) => {
  const reader = createCsvReader(text, separator, true);
  // One page of rows, because callers yield between pages.
  for (let rows = 0; rows < LIMITS.importErrors.value && reader.next() !== null; rows++);
};

/** Loops over input from callers, servers or files, by file. */
const FED: Readonly<Record<string, ReadonlyArray<() => unknown>>> = {
  "contract/src/address.ts": ADDRESSES.flatMap((text) => [
    () => parseAddress(text),
    () => parseMailbox(text),
    () => parseMailbox(`${text} <a@b.c>`),
    () => parseDisplayName(text),
    () => parseDomain(text),
  ]),
  // The value of one header.
  "contract/src/mailbox-list.ts": [...ADDRESSES, filled(","), filled("a@b.c,")].map(
    (text) => () => parseMailboxList(text.slice(0, LIMITS.headerValueLength.value)),
  ),
  "contract/src/contact-file/find-table.ts": CSV.map((text) => () => findTable(text)),
  "contract/src/contact-file/field-names.ts": [
    () => ownKey("a", 1, new Set(Array.from({ length: LIMITS.importColumns.value }, (_, at) => `a${at}`))),
  ],
  "contract/src/design.ts": BODIES.map((bytes) => () => {
    try {
      return problemsOfDesign(parseJson(bytes));
    } catch {
      return null;
    }
  }),
  "contract/src/design-html.ts": TEMPLATES.map((unit) => () => escapeAround(filled(unit))),
  "contract/src/merge-tags/entities.ts": ["&", "&quot;", "&#x27;", "&a"].map(
    // The maximum length between two braces.
    (unit) => () => decodeEntities(filled(unit, 10_000)),
  ),
  "contract/src/merge-tags/find-merge-tags.ts": [...TEMPLATES, ...TAGS, "\\{{"].map(
    (unit) => () => findMergeTags([{ text: filled(unit), isHtml: true }], { ...FACTS, fields: new Set("a") }),
  ),
  "contract/src/read-csv.ts": CSV.flatMap((text) => [() => readAll(text, ","), () => readAll(text, ";")]),
  "contract/src/recorded-reasons.ts": ["“", "The value of “ ", " has no value.", "a"].map(
    (unit) => () => readRecordedReason(filled(unit)),
  ),
  "server/src/deliveries/return-path.ts": ADDRESSES.map((text) => () => isReturnPath(text)),
  "server/src/message/body-hash.ts": ["\r\n", "a\r\n", "a"].map(
    (unit) => () => bodySha256(Buffer.from(filled(unit)), 0, []),
  ),
  "server/src/message/quoted-printable.ts": ["=\r\n", " ", "\r\n", " \r\n", "=20", "a"].map(
    (unit) => () => relaxedLines(Buffer.from(filled(unit))),
  ),
  "server/src/platform/http/body.ts": BODIES.map((bytes) => () => {
    try {
      return findHostileValues(parseJson(bytes));
    } catch {
      return null;
    }
  }),
  "contract/src/closest-name.ts": [filled("/"), filled("a"), filled("/a")].flatMap((text) => [
    () => closestName(text, ["scheduledFor", text]),
    () => nearestPath([], text),
    () => withGuesses([{ field: text, message: "", code: "custom" }], { [text]: 1 }),
  ]),
  "server/src/rendering/inbox-text.ts": [...TEMPLATES, ...TAGS].map(
    (unit) => () => inboxTextOf(filled(unit)),
  ),
  "server/src/rendering/source-position.ts": TEMPLATES.map(
    (unit) => () => createLocator(filled(unit))(LENGTH),
  ),
  "server/src/rendering/scan-template.ts": TEMPLATES.map((unit) => () => scanTemplate(filled(unit))),
  "server/src/rendering/literals.ts": [
    "{{a ?? b c",
    "{{a ?? b c}}",
    "{{a ?? “b",
    "{{a ?? ‘b’}}",
    "{{&quot;",
    "{{a??",
  ].map((unit) => () => scanTemplate(filled(unit))),
  "server/src/rendering/text-part.ts": ["\uFDD3", " \uFDD3", "\uFDD0", "a", " ", "\n"].map(
    (unit) => () => resolveMarks(filled(unit)),
  ),
  "server/src/templates/lint-variables.ts": [...TEMPLATES, ...TAGS].map(
    (unit) => () => variableWarnings([["body", filled(unit)]], new Set("a"), FACTS),
  ),
  "server/src/transports/smtp-body.ts": ["\n.", "\r\n.", ".", "\r\n..", "a"].map(
    (unit) => () => toWireBody(Buffer.from(filled(unit))),
  ),
  "server/src/transports/smtp-replies.ts": ["250-a\r\n", "2", "\r\n", "250 a\r\n", "a"].map((unit) => () => {
    try {
      return createReplyReader().read(Buffer.from(filled(unit, READ_LENGTH)), () => undefined);
    } catch {
      return null;
    }
  }),
  "server/src/v1/verify-rules.ts": ["a", "gmail", "-"].map(
    (unit) => () => suggestDomain(`${filled(unit, 250)}.com`, "mx"),
  ),
};

/** Loops that need no feeding: what they iterate over, and their files below server/src/. */
const OVER: Readonly<Record<string, string>> = {
  "a batch after the other, until none is left; each waits for the database":
    "audit/audit-log.ts billing/tell-caps.ts campaigns/settle-campaigns.ts campaigns/write-recipients.ts contacts/consent-chain/checkpoint-consent.ts contacts/consent-chain/verify-consent.ts contacts/export-contact.ts contacts/export-contacts.ts contacts/import/record-changes.ts contacts/import/write-errors.ts contacts/upsert-parts.ts deliveries/watch-rates.ts domains/check-domains.ts domains/inspect-domains.ts link-domains/check-link-domains.ts link-domains/link-origins.ts emails/reading/email-history.ts instance/move-projects.ts emails/throttling/throttled-domains.ts stream/assign-numbers.ts stream/call-endpoints.ts stream/numbered-log.ts stream/delivery-log.ts emails/submission/reconcile.ts platform/http/idempotency.ts platform/background/jobs.ts platform/background/project-turns.ts projects/removal/removal.ts received/received-emails.ts requests/request-log.ts segments/sync-members.ts suppressions/suppressions.ts uploads/s3-storage.ts v1/recent-sends.ts workflows/dates/enter-by-dates.ts workflows/executions/awaited-events.ts workflows/executions/exit-events.ts workflows/executions/exit-executions.ts workflows/executions/goals.ts workflows/executions/held-workflows.ts workflows/usage.ts",
  "work that comes in turn, or a wait with a deadline; other work goes on between two rounds":
    "emails/doubt/doubt-brake.ts emails/sending/feed-channels.ts emails/sending/sender.ts instance/operator.ts platform/background/background.ts platform/database/watch.ts platform/database/database.ts platform/embedded-postgres/kept-postgres.ts platform/embedded-postgres/leftovers.ts platform/embedded-postgres/lock.ts platform/embedded-postgres/postmaster.ts platform/threads/task-thread.ts platform/background/fair-queue.ts platform/background/group-commit.ts platform/database/open-database.ts rendering/render-thread.ts transports/smtp-delivery.ts transports/smtp-pool.ts transports/smtp-session.ts stream/live-stream.ts",
  "a template or an email body, on a render thread with a timeout":
    "message/body.ts message/part-text.ts rendering/find-links.ts rendering/link-slots.ts rendering/rewrite-expressions.ts",
  "small parts of a job's file; each waits for the database": "contacts/import/import-step.ts",
  "a contact file, on a thread of its own if it is large; browsers yield between parts":
    "contacts/import/prepare-import.ts contacts/import/read-part.ts contract/src/contact-file/join-files.ts",
  "ids of one bulk change, which are limited": "contacts/bulk/rules.ts",
  "segments of a project or steps of a workflow, which are limited":
    "segments/filters/load-segments.ts segments/rules.ts workflows/executions/advance.ts workflows/executions/simulated-environment.ts workflows/executions/walk.ts workflows/find-self-triggering.ts workflows/graph-rules.ts workflows/self-triggering.ts",
  "a few DNS queries with a deadline": "domains/ask-records.ts",
  "the attempts until an email expires, the slots of a batch of calls, three time steps":
    "emails/rows/rules.ts webhooks/rules.ts users/second-factor/totp.ts",
  "the headers of a request, limited to 16 KB by Node.js; a limited number of path segments":
    "platform/http/guards.ts platform/http/http.ts",
  "a limited number of form parts": "platform/http/form.ts",
  "a limited number of message lines": "deliveries/parse-apart.ts",
  "the emails of one batch, which are limited; yields between groups": "v1/send-batch.ts",
  "the letters of one address, already limited in length": "v1/shard.ts",
  "batches of contacts or emails from the database, with a time limit of a tenth of a second":
    "contacts/find-contacts.ts emails/reading/find-emails.ts",
  "a few months": "platform/database/partitions.ts",
  "the tables of the database, and the migrations":
    "platform/database/migrations.ts platform/database/tenant-rows.ts",
  "the chunks of one response; yields between chunks": "platform/http/response.ts",
  "the shares of a random split, which repeat after at most 10,000 contacts; the contacts of one batch":
    "workflows/executions/shares.ts",
  "the lines of a header up to 512 KB, on a thread that is ended when it takes too long":
    "deliveries/sender-checks/verify-signatures.ts",
  "the hours of one day": "reports/period.ts",
  "two days, halved until a minute is left": "workflows/dates/zones.ts",
  "up to 10,000 values of the body of a webhook step": "webhooks/credential-names.ts",
  "up to 100 members of a gzip file, on a thread of their own that is ended when it takes too long":
    "domains/reports/gunzip.ts",
};

function loopsOf(file: SourceFile): number {
  let count = 0;
  const add = () => void count++;
  visit(file, { WhileStatement: add, DoWhileStatement: add, ForStatement: add });
  return count;
}

const files = readTree(join(import.meta.dirname, "../.."))
  .sources.filter(({ path, text }) => PRODUCT.test(path) && !isTest(path) && !isGenerated(text))
  .filter(
    ({ path }) => !path.startsWith("server/src/testing/") && !path.startsWith("server/src/instance/pages/"),
  );

test("every file with a counting or waiting loop is listed", () => {
  const withLoops = files.filter((file) => loopsOf(file) > 0).map(({ path }) => path);
  const others = Object.values(OVER).flatMap((paths) =>
    paths.split(" ").map((path) => (path.startsWith("contract/") ? path : `server/src/${path}`)),
  );
  const listed = [...Object.keys(FED), ...others];
  expect(withLoops.filter((path) => !listed.includes(path))).toEqual([]);
  expect(listed.filter((path) => !withLoops.includes(path))).toEqual([]);
});

test.each(Object.entries(FED))("the loops of %s are fast for any input", (_path, feeds) => {
  expect(feeds.map((feed) => tooLongMsOf(() => cpuMsOf(feed))).filter(Boolean)).toEqual([]);
});
