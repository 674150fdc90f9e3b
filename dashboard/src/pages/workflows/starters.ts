// Starters for new workflows: emails and steps that need only two inputs.
import type { Block } from "@postloft/contract/design.ts";
import { t } from "../../text/t.ts";
import { button, heading, text } from "../templates/starting-points.ts";
import { after, email, exit, pause, waitFor, type Inputs, type Question, type Starter } from "./starter.ts";

const DAY_S = 86_400;
const HOUR_S = 3_600;
/** Days without an event before the win-back email. */
const AWAY_DAYS = 60;
/** Contacts that are away longer get no email, so that enabling the workflow does not email everyone who ever left. */
const AWAY_AT_MOST_DAYS = 67;

const event = (label: string, placeholder: string): Question => ({ key: "event", label, placeholder });
const goal = (label: string, placeholder: string): Question => ({
  key: "goal",
  label,
  help: t("Contacts with this event get no reminder."),
  placeholder,
});
const field = (label: string, placeholder: string): Question => ({
  key: "field",
  label,
  help: t("data.<key> of the contact."),
  placeholder,
});
const link: Question = { key: "url", label: t("Button link"), placeholder: "https://example.com" };
const optionalLink: Question = {
  ...link,
  label: t("Button link (optional)"),
  help: t("Without a link, the emails have no button."),
  isOptional: true,
};
const onEvent = (inputs: Inputs) => ({ eventName: inputs.event });
const atNine = (inputs: Inputs) => ({ dateField: inputs.field, until: "09:00", timezone: "contact" });
const buttonTo = (label: string, { url }: Inputs): Block[] => (url === "" ? [] : [button(label, url)]);
const HELP = t("Questions? Reply to this email.");

export const STARTERS: readonly Starter[] = [
  {
    key: "welcome",
    label: t("Welcome"),
    about: t("Two emails for new people: now, and three days later."),
    questions: [event(t("Event when someone signs up"), "signed-up"), link],
    emails: [
      {
        name: t("Welcome"),
        subject: t("Welcome!"),
        content: (inputs) => [
          heading(t("Welcome!")),
          text(t("Thank you for joining. Start here, it takes only a few minutes.")),
          ...buttonTo(t("Get started"), inputs),
          text(HELP),
        ],
      },
      {
        name: t("Welcome, day 3"),
        subject: t("How is it going?"),
        content: (inputs) => [
          heading(t("How is it going?")),
          text(t("You joined three days ago. Is anything missing? Reply and tell us.")),
          ...buttonTo(t("Continue"), inputs),
        ],
      },
    ],
    triggerType: "EVENT",
    triggerConfig: onEvent,
    allowReentry: false,
    steps: (_inputs, [first, second]) => [
      email(t("Welcome"), first),
      pause(3, "days"),
      email(t("Welcome, day 3"), second),
    ],
  },
  {
    key: "trial",
    label: t("Trial ending"),
    about: t("Three days before the end of the trial, and on the last day."),
    questions: [
      field(t("Field with the end of the trial"), "data.trialEndsAt"),
      goal(t("Event when someone upgrades"), "upgraded"),
      optionalLink,
    ],
    emails: [
      {
        name: t("Trial ends in 3 days"),
        subject: t("Your trial ends in 3 days"),
        content: (inputs) => [
          heading(t("Your trial ends in 3 days")),
          text(t("Choose a plan now to keep everything as it is.")),
          ...buttonTo(t("Choose a plan"), inputs),
          text(HELP),
        ],
      },
      {
        name: t("Trial ends today"),
        subject: t("Your trial ends today"),
        content: (inputs) => [
          heading(t("Your trial ends today")),
          text(t("Choose a plan to continue.")),
          ...buttonTo(t("Choose a plan"), inputs),
          text(HELP),
        ],
      },
    ],
    triggerType: "DATE",
    triggerConfig: (inputs) => ({
      ...atNine(inputs),
      amount: 3,
      unit: "days",
      direction: "before",
      audienceFilter: {
        operator: "AND",
        conditions: [{ field: `event.${inputs.goal}`, operator: "notTriggered" }],
      },
    }),
    allowReentry: false,
    steps: (inputs, [first, second]) => [
      email(t("Trial ends in 3 days"), first),
      waitFor(inputs.goal, 3 * DAY_S),
      exit(t("Upgraded"), after(1, "event")),
      email(t("Trial ends today"), second, after(1, "timeout")),
    ],
  },
  {
    key: "birthday",
    label: t("Birthday"),
    about: t("A greeting on each birthday, in the morning."),
    questions: [field(t("Field with the birthday"), "data.birthday"), optionalLink],
    emails: [
      {
        name: t("Birthday"),
        subject: t("Happy birthday!"),
        content: (inputs) => [
          heading(t("Happy birthday!")),
          text(t("We wish you a wonderful day.")),
          ...buttonTo(t("Your present"), inputs),
        ],
      },
    ],
    triggerType: "DATE",
    triggerConfig: (inputs) => ({ ...atNine(inputs), repeat: "yearly" }),
    allowReentry: true,
    steps: (_inputs, [template]) => [email(t("Birthday"), template)],
  },
  {
    key: "cart",
    label: t("Abandoned cart"),
    about: t("A reminder after four hours without an order, once a week at most."),
    questions: [
      event(t("Event when someone fills the cart"), "cart-updated"),
      goal(t("Event when someone orders"), "order-placed"),
      optionalLink,
    ],
    emails: [
      {
        name: t("Abandoned cart"),
        subject: t("You left something in your cart"),
        content: (inputs) => [
          heading(t("You left something in your cart")),
          text(t("Would you like to finish your order?")),
          ...buttonTo(t("Back to the cart"), inputs),
          text(HELP),
        ],
      },
    ],
    triggerType: "EVENT",
    triggerConfig: onEvent,
    allowReentry: true,
    steps: (inputs, [template]) => [
      waitFor(inputs.goal, 4 * HOUR_S),
      exit(t("Ordered"), after(0, "event")),
      email(t("Abandoned cart"), template, after(0, "timeout")),
      pause(1, "weeks"),
    ],
  },
  {
    key: "win-back",
    label: t("Win-back"),
    about: t("An email to people who have been away for 60 days."),
    questions: [event(t("Event of active people"), "opened-app"), link],
    emails: [
      {
        name: t("Win-back"),
        subject: t("We miss you"),
        content: (inputs) => [
          heading(t("We miss you")),
          text(t("It's been a while. See what's new since your last visit.")),
          ...buttonTo(t("See what's new"), inputs),
        ],
      },
    ],
    triggerType: "SCHEDULE",
    triggerConfig: (inputs) => ({
      cron: "0 9 * * *",
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      audienceType: "FILTERED",
      audienceFilter: {
        operator: "AND",
        conditions: [
          { field: `event.${inputs.event}`, operator: "notTriggeredWithin", value: AWAY_DAYS, unit: "days" },
          {
            field: `event.${inputs.event}`,
            operator: "triggeredWithin",
            value: AWAY_AT_MOST_DAYS,
            unit: "days",
          },
        ],
      },
    }),
    allowReentry: true,
    // The delay is longer than the days on which a contact matches, so each absence leads to one email.
    steps: (_inputs, [template]) => [email(t("Win-back"), template), pause(2, "weeks")],
  },
  {
    key: "receipt",
    label: t("Receipt follow-up"),
    about: t("A question about the order, a week later."),
    questions: [event(t("Event when someone orders"), "order-placed"), link],
    emails: [
      {
        name: t("Receipt follow-up"),
        subject: t("How do you like your order?"),
        content: (inputs) => [
          heading(t("How do you like your order?")),
          text(t("Your opinion helps us and other customers.")),
          ...buttonTo(t("Write a review"), inputs),
          text(HELP),
        ],
      },
    ],
    triggerType: "EVENT",
    triggerConfig: onEvent,
    allowReentry: true,
    steps: (_inputs, [template]) => [pause(1, "weeks"), email(t("Receipt follow-up"), template)],
  },
];
