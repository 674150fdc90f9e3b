// Notification emails about projects, in English. Pure.
import type { BadRate } from "@postloft/contract/security.ts";
import type { PlatformEmailBlock } from "../../../emails/platform-email/platform-email-layout.ts";
import { formatsOf } from "../../../emails/platform-email/mail-formats.ts";
import type { NotificationTexts, PausedCampaign, NamedJob, UsedCap } from "../notification-facts.ts";

const { number, percent, day, counted } = formatsOf("en");

const SWITCH_OFF = "Turn these emails off in Settings → Notifications.";
const WAITS_AND_TRIES = "We'll retry a few emails automatically, starting in an hour.";

const JOBS: Readonly<Record<NamedJob, string>> = {
  "contacts.import": "A contact import",
  "contacts.undo-import": "The undo of a contact import",
  "contacts.bulk": "A bulk change of contacts",
  "contacts.delete-field": "The deletion of a contact field",
  "suppressions.import": "A suppression import",
  "campaigns.snapshot": "The start of a campaign",
  "workflows.start": "The start of a workflow for many contacts",
  "workflows.cancel": "The cancellation of workflow executions",
  "events.delete": "An event deletion",
  "project-reset": "The reset of the project",
  "project-deletion": "The deletion of the project",
  other: "A job",
};
const CATEGORIES: Readonly<Record<UsedCap["category"], readonly [one: string, other: string]>> = {
  transactional: ["transactional email", "transactional emails"],
  campaigns: ["campaign email", "campaign emails"],
  workflows: ["workflow email", "workflow emails"],
};
const WINDOWS = { sevenDay: "over 7 days", allTime: "in total" };

function rateOf({ of, window, level, count, mails, rate, threshold }: BadRate): string {
  const what =
    of === "bounces" ? counted(count, "bounce", "bounces") : counted(count, "complaint", "complaints");
  const evaluated = level === "critical" ? "critical" : "warning";
  return `${what} of ${number(mails)} emails ${WINDOWS[window]}: ${percent(rate)} (${evaluated} from ${percent(threshold)})`;
}

function capOf({ category, usage, limit, percentage }: UsedCap): string {
  return `${number(usage)} of ${counted(limit, ...CATEGORIES[category])} (${percent(percentage)})`;
}

/** Returns why a campaign paused and what to do about it. */
function blocksOf({ id, name, cause }: PausedCampaign): PlatformEmailBlock[] {
  const paused = `The campaign “${name}” was paused automatically`;
  const resume = `The remaining emails wait. Resume the campaign when you've fixed the cause (POST /campaigns/${id}/resume).`;
  switch (cause.problem) {
    case "refused":
      return [
        `${paused}. Over 20% of its last ${number(cause.last)} emails were rejected because of the sender, not the recipients. Last response:`,
        { quote: cause.answer },
        resume,
        `To resend the rejected emails, call POST /campaigns/${id}/retry-failed.`,
      ];
    case "in-doubt": {
      const which =
        cause.inARow === null
          ? `over 20% of its last ${number(cause.last)} emails`
          : `${counted(cause.inARow, "email", "emails")} in a row`;
      return [
        `${paused}. The mail server never confirmed ${which}, so we don't know whether it accepted them. They are UNCONFIRMED. Check the mail server's log. The last one:`,
        { quote: cause.answer },
        resume,
        `List the unconfirmed emails with GET /campaigns/${id}/recipients?status=UNCONFIRMED and resolve them with POST /campaigns/${id}/resolve.`,
      ];
    }
    case "over-cap":
      return [
        `${paused}. It has ${counted(cause.recipients, "recipient", "recipients")}, but this month's cap on campaign emails leaves room for only ${number(cause.room)}.`,
        `No emails have been sent yet. Raise the cap in Settings or wait until next month, then resume the campaign (POST /campaigns/${id}/resume).`,
      ];
    case "audience":
      return [
        `${paused} because its recipients could not be determined. Reason:`,
        { quote: cause.said },
        `No emails have been sent yet. Fix the cause and resume the campaign (POST /campaigns/${id}/resume), or cancel it.`,
      ];
    case "forgotten":
      return [
        `${paused}. A standby database took over that doesn't know the campaign had started. ${counted(cause.mails, "email was", "emails were")} already sent.`,
        `If you resume it (POST /campaigns/${id}/resume), these recipients get it again. The log lists the emails.`,
      ];
  }
}

export const EN: NotificationTexts = {
  lostDomain: ({ domain, record, failedChecks }) => ({
    subject: `${domain} is no longer verified`,
    blocks: [
      `The DKIM record of ${domain} was missing from DNS in ${number(failedChecks)} consecutive checks, so the domain is no longer verified. Emails from it are rejected, and waiting emails fail.`,
      `Restore the TXT record ${record} as shown on the Domains page (or by GET /domains). The domain is verified again automatically within minutes.`,
    ],
    label: "View record",
    footer: SWITCH_OFF,
  }),
  lostLinkDomain: ({ domain }) => ({
    subject: `${domain} no longer works for links`,
    blocks: [
      `Three consecutive checks of the link domain ${domain} failed. New emails use the address of the installation for links, images and public pages. Links in emails that were already sent may not work.`,
      `The Domains page shows what is wrong. Once a check succeeds, new emails use the domain again.`,
    ],
    label: "View link domain",
    footer: SWITCH_OFF,
  }),
  pausedCampaign: (facts) => {
    const { name } = facts;
    return {
      subject: `The campaign “${name}” is paused`,
      blocks: blocksOf(facts),
      label: "Open the campaign",
      footer: SWITCH_OFF,
    };
  },
  pausedDestination: ({ campaign, project, destination, answer }) => {
    const what = campaign === null ? "bulk emails" : "emails";
    const owner = campaign === null ? `the project “${project}”` : `the campaign “${campaign.name}”`;
    const call = campaign === null ? "/emails/release" : `/campaigns/${campaign.id}/release`;
    return {
      subject:
        campaign === null
          ? `Bulk emails of “${project}” to ${destination} are paused`
          : `The campaign “${campaign.name}” is paused for ${destination}`,
      blocks: [
        `${destination} rejects ${what} of ${owner} because of the sender, not the recipients. Last response:`,
        { quote: answer },
        campaign === null
          ? `Bulk emails to ${destination} outside campaigns are on hold. Transactional emails and emails to other domains are still sent. GET /emails/paused-destinations lists everything that is paused.`
          : `The campaign continues for all other domains.`,
        `Fix the cause named in the response, such as a blocklist, the sender's DNS or complaints. Then release the emails (POST ${call}). ${WAITS_AND_TRIES}`,
        ...(campaign === null
          ? []
          : [`To resend the rejected emails, call POST /campaigns/${campaign.id}/retry-failed.`]),
      ],
      label: campaign === null ? "Open the project" : "Open the campaign",
      footer: SWITCH_OFF,
    };
  },
  suspended: ({ project, rates }) => ({
    subject: `The project “${project}” was disabled`,
    blocks: [
      `Too many emails of the project “${project}” bounced or were reported as spam, so we disabled it:`,
      { points: rates.map(rateOf) },
      "You can view the project but not change it, and it sends nothing. Waiting emails stay on hold.",
      "Find out where these addresses came from and remove the others from the same source. " +
        "Then the owner can enable the project again in Settings. This is possible only once in a while. Otherwise ask the administrator of this server.",
    ],
    label: "View rates",
  }),
  badRates: ({ project, rates }) => ({
    subject: `${project}: too many emails bounce or are reported as spam`,
    blocks: [
      "Mailbox providers rate senders by these numbers, and a project with critical rates is disabled:",
      { points: rates.map(rateOf) },
      "Find out where these addresses came from and stop sending to the others from the same source.",
    ],
    label: "View rates",
    footer: `Sent at most once a week. ${SWITCH_OFF}`,
  }),
  capsNear: ({ project, caps }) => ({
    subject: `${project}: you've nearly reached a monthly cap`,
    blocks: [
      "When a cap is reached, emails are rejected until next month or until you raise the cap:",
      { points: caps.map(capOf) },
    ],
    label: "View caps",
    footer: `Sent once a month. ${SWITCH_OFF}`,
  }),
  capsReached: ({ project, caps }) => ({
    subject: `${project}: you've reached a monthly cap`,
    blocks: [
      "More emails of this kind are rejected until next month or until you raise the cap. Emails accepted before are still sent.",
      { points: caps.map(capOf) },
    ],
    label: "View caps",
    footer: `Sent once a month. ${SWITCH_OFF}`,
  }),
  failedJob: ({ job, id, reason }) => ({
    subject: `${JOBS[job]} failed`,
    blocks: [
      `${JOBS[job]} failed and won't be retried. Reason:`,
      { quote: reason },
      `Changes made before the failure are kept. The job's id is ${id}. The administrator of this server can find it in the log.`,
    ],
    label: "Open the project",
    footer: `Sent at most once an hour for each kind of job. ${SWITCH_OFF}`,
  }),
  failedWorkflow: ({ name, count, step, error, isPaused }) => ({
    subject: isPaused ? `The workflow “${name}” is paused` : `The workflow “${name}” failed`,
    blocks: [
      isPaused
        ? `We paused the workflow “${name}” because the endpoint of the step “${step}” failed for ${counted(count, "contact", "contacts")} in a row. Last error:`
        : `The workflow “${name}” failed for ${counted(count, "contact", "contacts")}, last at the step “${step}”. Last error:`,
      { quote: error },
      isPaused
        ? "Everyone inside waits. Fix the endpoint, then resume the workflow."
        : "These contacts wait at the failed step. Fix the cause, then retry or skip the step.",
    ],
    label: "Open the workflow",
    footer: `Sent at most once a day for each workflow, unless it pauses. ${SWITCH_OFF}`,
  }),
  disabledEndpoint: ({ url, days, error }) => ({
    subject: "A webhook endpoint is disabled",
    blocks: [
      `We disabled the endpoint ${url} because it accepted no event for ${counted(days, "day", "days")}. Last error:`,
      { quote: error },
      "Its events are waiting. Fix the endpoint, then enable it again.",
    ],
    label: "Open the endpoint",
    footer: SWITCH_OFF,
  }),
  week: ({ project, current, previous }) => ({
    subject: `${project}: ${counted(current.emails, "email", "emails")} last week`,
    blocks: [
      `${day(current.startDate)} to ${day(current.endDate)}, with the week before in parentheses:`,
      {
        points: [
          `Sent: ${number(current.emails)} (${number(previous.emails)})`,
          `Opened: ${number(current.opens)} (${number(previous.opens)})`,
          `Clicked: ${number(current.clicks)} (${number(previous.clicks)})`,
          `Bounced: ${number(current.bounces)} (${number(previous.bounces)})`,
          `Complaints: ${number(current.complaints)} (${number(previous.complaints)})`,
        ],
      },
    ],
    label: "View reports",
    footer: SWITCH_OFF,
  }),
  passedOn: ({ recipient, from, subject, text }) => ({
    subject: `[${recipient}] ${subject}`,
    blocks: [`${from} wrote to ${recipient}:`, { quote: text }],
    footer: "The sender is not verified. To reply, write to that address.",
  }),
  test: () => ({
    subject: "Postloft test email",
    blocks: ["This is a test email, requested by the administrator of this Postloft server."],
  }),
};
