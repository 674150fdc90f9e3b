// What people are told about their projects, in English. Pure.
import type { BadRate } from "@postloft/contract/security.ts";
import type { SystemMailBlock } from "../../../emails/system-mail/system-mail-layout.ts";
import { formatsOf } from "../../../emails/system-mail/mail-formats.ts";
import type { NotificationTexts, PausedCampaign, ToldJob, UsedCap } from "../notification-facts.ts";

const { number, percent, day, counted } = formatsOf("en");

const SWITCH_OFF = "In the settings of the project, under Notifications, you switch this off.";
const WAITS_AND_TRIES = "By itself a few mails try again, after an hour first.";

const JOBS: Readonly<Record<ToldJob, string>> = {
  "contacts.import": "An import of contacts",
  "contacts.undo-import": "The undo of an import of contacts",
  "contacts.bulk": "A bulk change of contacts",
  "contacts.delete-field": "The deletion of a field of contacts",
  "suppressions.import": "An import of suppressed addresses",
  "campaigns.snapshot": "The start of a campaign",
  "workflows.start": "The start of a workflow for many contacts",
  "workflows.cancel": "The cancellation of executions of a workflow",
  "events.delete": "The deletion of events",
  "project-reset": "The reset of the project",
  "project-deletion": "The deletion of the project",
  other: "A job",
};
const CATEGORIES: Readonly<Record<UsedCap["category"], readonly [one: string, other: string]>> = {
  transactional: ["transactional mail", "transactional mails"],
  campaigns: ["mail of campaigns", "mails of campaigns"],
  workflows: ["mail of workflows", "mails of workflows"],
};
const WINDOWS = { sevenDay: "over 7 days", allTime: "over all time" };

function rateOf({ of, window, level, count, mails, rate, threshold }: BadRate): string {
  const what =
    of === "bounces" ? counted(count, "bounce", "bounces") : counted(count, "complaint", "complaints");
  const judged = level === "critical" ? "critical" : "a warning";
  return `${what} of ${number(mails)} mails ${WINDOWS[window]}: ${percent(rate)}, ${judged} from ${percent(threshold)} on`;
}

function capOf({ category, usage, limit, percentage }: UsedCap): string {
  return `${number(usage)} of ${counted(limit, ...CATEGORIES[category])} (${percent(percentage)})`;
}

/** Says why a campaign paused, and what to do about it. */
function blocksOf({ id, name, cause }: PausedCampaign): SystemMailBlock[] {
  const paused = `The campaign “${name}” paused automatically`;
  const resume = `What has not left waits. When the cause is fixed, resume it (POST /campaigns/${id}/resume).`;
  switch (cause.problem) {
    case "refused":
      return [
        `${paused}. More than a fifth of its last ${number(cause.last)} mails were refused for who sends them or how, not for their recipients. The last answer was:`,
        { quote: cause.answer },
        resume,
        `What was refused is sent again by POST /campaigns/${id}/retry-failed.`,
      ];
    case "in-doubt": {
      const which =
        cause.inARow === null
          ? `More than a fifth of its last ${number(cause.last)} mails`
          : `${counted(cause.inARow, "mail", "mails")} in a row`;
      return [
        `${paused}. ${which} were handed over and got no answer, so that nobody knows whether they were taken. They are UNCONFIRMED: look them up at the mail server. The last one:`,
        { quote: cause.answer },
        resume,
        `GET /campaigns/${id}/recipients?status=UNCONFIRMED lists the mails of which nobody knows whether they arrived; say what became of them by POST /campaigns/${id}/resolve.`,
      ];
    }
    case "over-cap":
      return [
        `${paused}: it has ${counted(cause.recipients, "recipient", "recipients")}, and the cap on mails of campaigns leaves room for ${number(cause.room)} this month.`,
        `Nobody has got it yet. Raise the cap in the settings of the project or wait for the next month, then resume it (POST /campaigns/${id}/resume).`,
      ];
    case "audience":
      return [
        `${paused} because its recipients could not be determined. The reason:`,
        { quote: cause.said },
        `Nobody has received it yet. Fix the cause and resume it (POST /campaigns/${id}/resume), or cancel it.`,
      ];
    case "forgotten":
      return [
        `${paused}. A standby database took over that doesn't know that the campaign had started. ${counted(cause.mails, "email had", "emails had")} already been sent.`,
        `If you resume it (POST /campaigns/${id}/resume), these recipients get it again. The log lists the emails.`,
      ];
  }
}

export const EN: NotificationTexts = {
  lostDomain: ({ domain, record, failedChecks }) => ({
    subject: `${domain} is no longer verified`,
    blocks: [
      `${number(failedChecks)} checks in a row did not find the DKIM record of ${domain} in DNS, so the domain is no longer verified. Mail from it is refused, and mail that waits fails.`,
      `Put the TXT record ${record} back as the page of the domain (or GET /domains) shows it. The domain verifies again by itself within minutes.`,
    ],
    label: "Show the record",
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
    const what = campaign === null ? "list mail" : "mail";
    const whose = campaign === null ? `the project “${project}”` : `the campaign “${campaign.name}”`;
    const call = campaign === null ? "/emails/release" : `/campaigns/${campaign.id}/release`;
    return {
      subject:
        campaign === null
          ? `List mail of “${project}” is paused for ${destination}`
          : `The campaign “${campaign.name}” is paused for ${destination}`,
      blocks: [
        `${destination} refuses ${what} of ${whose} for who sends it or how, not for its recipients. The last answer was:`,
        { quote: answer },
        campaign === null
          ? `List mail of no campaign that is for ${destination} waits for now; transactional mail and mail to all others goes on. GET /emails/paused-destinations lists what is paused.`
          : `To ${destination} nothing more leaves for now, to all others the campaign goes on.`,
        `Look up what the answer says, and mend it: blocklists, DNS of the sender, complaints. Then let its mail go on (POST ${call}). ${WAITS_AND_TRIES}`,
        ...(campaign === null
          ? []
          : [`What was refused is sent again by POST /campaigns/${campaign.id}/retry-failed.`]),
      ],
      label: campaign === null ? "Open the project" : "Open the campaign",
      footer: SWITCH_OFF,
    };
  },
  suspended: ({ project, rates }) => ({
    subject: `The project “${project}” was disabled`,
    blocks: [
      `Too much of the mail of the project “${project}” bounced or was complained about, so it was disabled:`,
      { points: rates.map(rateOf) },
      "It can be read but not changed, and it sends nothing. Mail that was waiting still waits.",
      "Find out which addresses these were and where they came from, and remove the others of that origin. " +
        "Then the owner enables the project again in its settings, once in a while, or whoever runs this installation does.",
    ],
    label: "The rates in detail",
  }),
  badRates: ({ project, rates }) => ({
    subject: `${project}: too much mail comes back or is reported as spam`,
    blocks: [
      "Receivers judge a sender by these rates, and a project whose rates are critical is disabled:",
      { points: rates.map(rateOf) },
      "Find out which addresses these were and where they came from, and stop sending to the others of that origin.",
    ],
    label: "The rates in detail",
    footer: `Told once a week at most. ${SWITCH_OFF}`,
  }),
  capsNear: ({ project, caps }) => ({
    subject: `${project}: a cap of this month is nearly reached`,
    blocks: [
      "Over a cap mail is refused until the next month begins, or the cap is raised:",
      { points: caps.map(capOf) },
    ],
    label: "Look at the caps",
    footer: `Told once a month. ${SWITCH_OFF}`,
  }),
  capsReached: ({ project, caps }) => ({
    subject: `${project}: a cap of this month is reached`,
    blocks: [
      "Further mail of this kind is refused until the next month begins, or the cap is raised. What was accepted before is sent.",
      { points: caps.map(capOf) },
    ],
    label: "Look at the caps",
    footer: `Told once a month. ${SWITCH_OFF}`,
  }),
  failedJob: ({ job, id, reason }) => ({
    subject: `${JOBS[job]} failed`,
    blocks: [
      `${JOBS[job]} failed, and is not tried again. The reason:`,
      { quote: reason },
      `What it had done before that stays done. Its id is ${id}; whoever runs the installation finds it in the log.`,
    ],
    label: "Open the project",
    footer: `Of each sort told once an hour at most. ${SWITCH_OFF}`,
  }),
  week: ({ project, current, previous }) => ({
    subject: `${project}: ${counted(current.emails, "mail", "mails")} last week`,
    blocks: [
      `From ${day(current.startDate)} to ${day(current.endDate)}, with the week before in brackets:`,
      {
        points: [
          `Sent: ${number(current.emails)} (${number(previous.emails)})`,
          `Opened by people: ${number(current.opens)} (${number(previous.opens)})`,
          `Clicked: ${number(current.clicks)} (${number(previous.clicks)})`,
          `Bounced: ${number(current.bounces)} (${number(previous.bounces)})`,
          `Complaints: ${number(current.complaints)} (${number(previous.complaints)})`,
        ],
      },
    ],
    label: "Open the reports",
    footer: `You asked for this mail. ${SWITCH_OFF}`,
  }),
  passedOn: ({ recipient, from, subject, text }) => ({
    subject: `[${recipient}] ${subject}`,
    blocks: [`${from} wrote to ${recipient}:`, { quote: text }],
    footer: "Nobody proved who wrote this. To answer, write to that address.",
  }),
  test: () => ({
    subject: "Test mail of Postloft",
    blocks: ["This is a test mail. Whoever runs this installation of Postloft asked for it."],
  }),
};
