// The templates and campaigns of the seeded project, created through the API.
import type { ApiClient } from "../../../e2e/api-client.ts";
import { blocks, button, heading, paragraph, type Written } from "./written.ts";

const SENDER = "hello@sandbox.localhost";
const SHOP = "https://nordlicht.example";

/** An email of a template, and how likely people are to open it and to click. */
export interface WrittenTemplate extends Written {
  key: string;
  type: "MARKETING" | "TRANSACTIONAL";
  opens: number;
  clicks: number;
}

const template = (
  key: string,
  name: string,
  { type = "MARKETING", ...rest }: Pick<Written, "subject" | "links" | "blocks"> & Partial<WrittenTemplate>,
): WrittenTemplate => ({ key, name, type, opens: 0.5, clicks: 0.25, ...rest });

export const TEMPLATES: readonly WrittenTemplate[] = [
  template("welcome", "Welcome", {
    subject: "Welcome to Nordlicht",
    links: [`${SHOP}/start`],
    blocks: [
      heading("Welcome to Nordlicht"),
      paragraph(
        'Hello {{firstName ?? "there"}}, thank you for joining. Start here, it takes only a few minutes.',
      ),
      button("Get started", `${SHOP}/start`),
    ],
    opens: 0.75,
    clicks: 0.45,
  }),
  template("tips", "Tips for the first week", {
    subject: "Three tips for your first week",
    links: [`${SHOP}/tips`],
    blocks: [
      heading("Three tips for your first week"),
      paragraph("Most people begin with these."),
      button("Read the tips", `${SHOP}/tips`),
    ],
  }),
  template("teams", "A guide for teams", {
    subject: "A guide for your team",
    links: [`${SHOP}/teams`],
    blocks: [
      heading("A guide for your team"),
      paragraph("Invite your colleagues and share your lists."),
      button("Read the guide", `${SHOP}/teams`),
    ],
  }),
  template("help", "Need a hand?", {
    subject: "Do you need a hand?",
    links: [`${SHOP}/help`],
    blocks: [
      heading("Do you need a hand?"),
      paragraph("Is anything missing? Reply and tell us."),
      button("Get help", `${SHOP}/help`),
    ],
    opens: 0.4,
  }),
  template("cart", "Abandoned cart", {
    subject: "You left something in your cart",
    links: [`${SHOP}/cart`],
    blocks: [
      heading("You left something in your cart"),
      paragraph("Would you like to finish your order?"),
      button("Back to the cart", `${SHOP}/cart`),
    ],
    clicks: 0.4,
  }),
  template("review", "Receipt follow-up", {
    subject: "How do you like your order?",
    links: [`${SHOP}/review`],
    blocks: [
      heading("How do you like your order?"),
      paragraph("Your opinion helps us and other customers."),
      button("Write a review", `${SHOP}/review`),
    ],
  }),
  template("receipt", "Receipt", {
    type: "TRANSACTIONAL",
    subject: "Your receipt",
    links: [`${SHOP}/orders`],
    blocks: [
      heading("Thank you for your order"),
      paragraph("Order {{order}}: {{amount}} EUR"),
      button("See the order", `${SHOP}/orders`),
    ],
    opens: 0.8,
    clicks: 0.15,
  }),
  template("password", "Password reset", {
    type: "TRANSACTIONAL",
    subject: "Reset your password",
    links: [`${SHOP}/password`],
    blocks: [
      heading("Reset your password"),
      button("Choose a new password", `${SHOP}/password`),
      paragraph("This link is valid for one hour."),
    ],
    opens: 0.9,
    clicks: 0.8,
  }),
];

/** A campaign that was sent some days ago, is scheduled for a day to come, or is still being written. */
export interface WrittenCampaign extends Written {
  sentDaysAgo?: number;
  dueInDays?: number;
  /** Sent to contacts with a paid plan only. */
  isForPaying?: true;
  opens: number;
  clicks: number;
}

const campaign = (
  name: string,
  subject: string,
  when: Pick<WrittenCampaign, "sentDaysAgo" | "dueInDays" | "isForPaying">,
  [opens, clicks]: [number, number] = [0.4, 0.2],
): WrittenCampaign => ({
  name,
  subject,
  links: [`${SHOP}/news`, `${SHOP}/sale`, `${SHOP}/blog`],
  blocks: [
    heading(subject),
    paragraph('Hello {{firstName ?? "there"}}, here is what is new at Nordlicht.'),
    button("See what is new", `${SHOP}/news`),
    paragraph("This week only: ten percent off all lamps."),
    button("To the sale", `${SHOP}/sale`),
    button("Read the blog", `${SHOP}/blog`),
  ],
  opens,
  clicks,
  ...when,
});

export const CAMPAIGNS: readonly WrittenCampaign[] = [
  campaign("Opening", "Nordlicht is open", { sentDaysAgo: 78 }, [0.52, 0.3]),
  campaign("First news", "What we learned in our first weeks", { sentDaysAgo: 64 }, [0.41, 0.16]),
  campaign("Lamps of spring", "New lamps for brighter evenings", { sentDaysAgo: 50 }, [0.44, 0.24]),
  campaign(
    "Customers first",
    "A preview for our customers",
    { sentDaysAgo: 38, isForPaying: true },
    [0.58, 0.34],
  ),
  campaign("Monthly news", "What is new this month", { sentDaysAgo: 27 }, [0.38, 0.15]),
  campaign("Ten percent off", "Ten percent off, until Sunday", { sentDaysAgo: 13 }, [0.46, 0.31]),
  campaign("Light and sleep", "Why warm light helps you sleep", { sentDaysAgo: 4 }, [0.42, 0.2]),
  campaign("Anniversary", "A present for your patience", { dueInDays: 3 }),
  campaign("Monthly news, next", "What is new next month", {}),
];

/** Creates the templates and returns their IDs by key. */
export async function createTemplates(api: ApiClient): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  for (const { key, name, type, subject, blocks: parts } of TEMPLATES) {
    const body = {
      name,
      type,
      subject,
      from: SENDER,
      fromName: "Nordlicht",
      design: blocks(parts, type === "MARKETING"),
    };
    ids.set(key, (await api.post<{ id: string }>("/templates", body)).id);
  }
  return ids;
}

/** Creates the campaigns, all of them as drafts, and returns their IDs in order. */
export async function createCampaigns(api: ApiClient, segmentId: string): Promise<string[]> {
  const ids: string[] = [];
  for (const { name, subject, blocks: parts, isForPaying } of CAMPAIGNS) {
    const audience = isForPaying ? { audienceType: "SEGMENT", segmentId } : { audienceType: "ALL" };
    const body = {
      name,
      subject,
      from: SENDER,
      fromName: "Nordlicht",
      design: blocks(parts, true),
      ...audience,
    };
    ids.push((await api.post<{ data: { id: string } }>("/campaigns", body)).data.id);
  }
  return ids;
}
