// Checks that every language has the complete notification texts, with the same facts and button, and numbers in its format.
import { expect, test } from "vitest";
import type { BadRate } from "@postloft/contract/security.ts";
import type { MailLanguage } from "../../emails/platform-email/mail-language.ts";
import { lostDomainMail } from "../../domains/lost-domain-mail.ts";
import type { DomainRow } from "../../domains/queries.ts";
import { pausedCampaignMail, throttledDomainMail } from "../../campaigns/paused-campaign-mail.ts";
import { operatorMail } from "../../deliveries/operator-mail.ts";
import { suspensionMail, warningMail } from "../../deliveries/suspension-mail.ts";
import { failedJobMail } from "../../reports/failed-jobs.ts";
import { NOTIFIED_JOBS } from "./notification-facts.ts";
import { notificationMail, type MailInLanguage } from "./notification-mails.ts";

const LANGUAGES: readonly MailLanguage[] = ["en", "de", "fr", "es"];
const URL = "https://post.example";
const DOMAIN = {
  projectId: "p1",
  domain: "shop.example",
  dkimSelector: "s1",
} as unknown as DomainRow;
const campaign = { projectId: "p1", id: "c1", name: "<Spring>" };
const answer = "554 5.7.1 <refused>";
const rates: BadRate[] = [
  {
    of: "bounces",
    window: "sevenDay",
    level: "critical",
    count: 1_234,
    mails: 10_000,
    rate: 12.34,
    threshold: 10,
  },
  {
    of: "complaints",
    window: "allTime",
    level: "warning",
    count: 1,
    mails: 2_000,
    rate: 0.05,
    threshold: 0.03,
  },
];
const shop = { projectId: "p1", name: "Shop", rates };
const caps = [{ category: "campaigns", usage: 40_000, limit: 50_000, percentage: 80 }] as const;
const week = {
  startDate: "2026-11-16",
  endDate: "2026-11-22",
  emails: 12_345,
  opens: 5_123,
  clicks: 401,
  bounces: 0,
  complaints: 1,
};

/** Each email, with the facts that every language must contain. */
const MAILS: Readonly<Record<string, [MailInLanguage, ...string[]]>> = {
  "a lost domain": [lostDomainMail(DOMAIN, 3, URL), "shop.example", "s1._domainkey", "/app/p1/domains"],
  "a refused campaign": [
    pausedCampaignMail(campaign, { problem: "refused", last: 200, answer }, URL),
    "<Spring>",
    answer,
    "/campaigns/c1/resume",
    "/campaigns/c1/retry-failed",
    "/app/p1/campaigns/c1",
  ],
  "a campaign in doubt": [
    pausedCampaignMail(campaign, { problem: "in-doubt", inARow: 10, last: 100, answer }, URL),
    "10 ",
    answer,
    "/campaigns/c1/resolve",
  ],
  "many of a campaign in doubt": [
    pausedCampaignMail(campaign, { problem: "in-doubt", inARow: null, last: 100, answer }, URL),
    "100 ",
    answer,
  ],
  "a campaign over a cap": [
    pausedCampaignMail(campaign, { problem: "over-cap", recipients: 1_234, room: 5 }, URL),
    "<Spring>",
    "234",
    "/campaigns/c1/resume",
    "/app/p1/campaigns/c1",
  ],
  "a campaign without an audience": [
    pausedCampaignMail(campaign, { problem: "audience", said: answer }, URL),
    "<Spring>",
    answer,
    "/campaigns/c1/resume",
    "/app/p1/campaigns/c1",
  ],
  "a campaign whose start was forgotten": [
    pausedCampaignMail(campaign, { problem: "forgotten", mails: 1_234 }, URL),
    "<Spring>",
    "234",
    "/campaigns/c1/resume",
    "/app/p1/campaigns/c1",
  ],
  "one destination": [
    throttledDomainMail({ projectId: "p1", project: "Shop", campaign, destination: "gmail", answer }, URL),
    "gmail",
    answer,
    "POST /campaigns/c1/release",
  ],
  "list mail to one destination": [
    throttledDomainMail(
      { projectId: "p1", project: "Shop", campaign: null, destination: "gmail", answer },
      URL,
    ),
    "Shop",
    answer,
    "POST /emails/release",
  ],
  suspension: [suspensionMail(shop, URL), "Shop", "/app/p1/settings?tab=reputation"],
  "rates near to it": [warningMail(shop, URL), "/app/p1/settings?tab=reputation"],
  "a cap nearly reached": [
    notificationMail((texts) => texts.capsNear({ project: "Shop", caps }), `${URL}/caps`),
    "/caps",
  ],
  "a cap reached": [
    notificationMail((texts) => texts.capsReached({ project: "Shop", caps }), `${URL}/caps`),
    "/caps",
  ],
  "a failed job": [
    failedJobMail({ projectId: "p1", id: "j1", kind: "contacts.import", reason: "<no>" }, URL),
    "j1",
    "<no>",
    "/app/p1",
  ],
  "a job without a name": [failedJobMail({ projectId: "p1", id: "j1", kind: "x", reason: "no" }, URL), "j1"],
  "a week": [
    notificationMail(
      (texts) => texts.week({ project: "Shop", current: week, previous: week }),
      `${URL}/reports`,
    ),
    "/reports",
    "2026",
  ],
  "a message to the admin": [
    operatorMail({
      recipient: "abuse@a.example",
      from: "b@b.example",
      subject: "Hey",
      text: "<x>",
      mayBePassedOn: true,
    }),
    "b@b.example",
    "<x>",
  ],
  "a test": [notificationMail((texts) => texts.test()), "Postloft"],
};

test.for(Object.entries(MAILS))(
  "every language has all facts of the email about %s",
  ([, [mail, ...facts]]) => {
    const reported = LANGUAGES.map((language) => ({ language, ...mail(language) }));
    expect(new Set(reported.map(({ text }) => text)).size).toBe(LANGUAGES.length);
    for (const { language, subject, text, html } of reported) {
      for (const fact of facts) expect(`${subject}\n${text}`).toContain(fact);
      expect(html).toContain(`<html lang="${language}">`);
      expect(`${subject}\n${text}`).not.toMatch(/undefined|NaN|\[object/);
      expect(html).not.toMatch(/<Spring>|<no>|<x>|<refused>/);
    }
  },
);

/** With plain spaces for readability. */
const said = (mail: MailInLanguage) =>
  LANGUAGES.map((language) => mail(language).text.replaceAll(/[\u00a0\u202f]/g, " "));

test("formats numbers, percentages and dates for each language", () => {
  const [en, de, fr, es] = said(warningMail(shop, URL));
  expect(en).toContain("- 1,234 bounces of 10,000 emails over 7 days: 12.34% (critical from 10%)");
  expect(en).toContain("- 1 complaint of 2,000 emails in total: 0.05% (warning from 0.03%)");
  expect(de).toContain("- 1.234 Rückläufer bei 10.000 Mails in 7 Tagen: 12,34 %, kritisch ab 10 %");
  expect(fr).toContain("- 1 plainte pour 2 000 e-mails au total : 0,05 %, avertissement à partir de 0,03 %");
  expect(es).toContain("- 1234 devoluciones de 10.000 correos en 7 días: 12,34 %, crítico a partir del 10 %");
  const [mail] = MAILS["a week"] ?? [];
  const days = ["November 16, 2026", "16. November 2026", "16 novembre 2026", "16 de noviembre de 2026"];
  said(mail as MailInLanguage).forEach((text, at) => expect(text).toContain(days[at]));
});

test("every job that a person can start has a distinct name in each language", () => {
  for (const language of LANGUAGES) {
    const subjects = [...NOTIFIED_JOBS, "other"].map(
      (kind) => failedJobMail({ projectId: "p1", id: "j1", kind, reason: "no" }, URL)(language).subject,
    );
    expect(new Set(subjects).size).toBe(NOTIFIED_JOBS.length + 1);
  }
});
