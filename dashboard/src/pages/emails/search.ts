// Search parameters of the emails page, and the query that they stand for.
import type { EmailKind, EmailStatus } from "@postloft/contract/emails.ts";
import type { PROVIDERS } from "@postloft/contract/receiving-providers.ts";

type Provider = (typeof PROVIDERS)[number];

/** What the search text is compared with. The recipient is the default and not in the URL. */
export const SOUGHT = ["to", "subject", "messageId"] as const;
export type Sought = (typeof SOUGHT)[number];

export interface EmailsSearch {
  search?: string;
  in?: Exclude<Sought, "to">;
  status?: EmailStatus;
  kind?: EmailKind;
  campaign?: string;
  workflow?: string;
  provider?: Provider;
  tag?: string;
  /** The first and the last day in the browser's time zone. */
  from?: string;
  until?: string;
  /** Shows received emails instead: `list`, or the id of one. */
  received?: string;
}

/** Changes of the search. `undefined` removes a parameter. */
export type EmailsChange = { [Name in keyof EmailsSearch]?: EmailsSearch[Name] | undefined };

/** Returns whether a text can be a whole address. The server decides about details. */
export const isAddress = (text: string) => /^\S+@\S+\.\S+$/.test(text.trim());

const NAME = /^[A-Z]+$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

const dayOf = (value: unknown) =>
  typeof value === "string" && DAY.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;

/** Returns a text. The router reads digits as a number. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** Parses the search parameters and drops invalid ones. */
export function readEmailsSearch(input: Record<string, unknown>): EmailsSearch {
  const { status, kind, campaign, workflow, provider } = input;
  const [search, tag, received] = [textOf(input["search"]), textOf(input["tag"]), textOf(input["received"])];
  const sought = SOUGHT.find((one) => one === input["in"]);
  const [from, until] = [dayOf(input["from"]), dayOf(input["until"])];
  return {
    ...(search === undefined ? {} : { search }),
    ...(sought === undefined || sought === "to" ? {} : { in: sought }),
    // The server rejects unknown names.
    ...(typeof status === "string" && NAME.test(status) ? { status: status as EmailStatus } : {}),
    ...(typeof kind === "string" && NAME.test(kind) ? { kind: kind as EmailKind } : {}),
    ...(typeof campaign === "string" && campaign !== "" ? { campaign } : {}),
    ...(typeof workflow === "string" && workflow !== "" ? { workflow } : {}),
    ...(typeof provider === "string" && provider !== "" ? { provider: provider as Provider } : {}),
    ...(tag === undefined ? {} : { tag }),
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
    ...(received === undefined ? {} : { received }),
  };
}

const ONE_DAY = 1;

/** Returns the beginning of a day in the browser's time zone. */
function beginningOf(day: string, daysLater = 0): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + daysLater).toISOString();
}

/** Returns the search as query parameters. */
export function queryOf(search: EmailsSearch) {
  const { search: text, in: sought = "to", campaign, workflow, from, until, received: _, ...rest } = search;
  return {
    ...rest,
    ...(text === undefined ? {} : { [sought]: text }),
    ...(campaign === undefined ? {} : { campaignId: campaign }),
    ...(workflow === undefined ? {} : { workflowId: workflow }),
    ...(from === undefined ? {} : { since: beginningOf(from) }),
    ...(until === undefined ? {} : { until: beginningOf(until, ONE_DAY) }),
  };
}
