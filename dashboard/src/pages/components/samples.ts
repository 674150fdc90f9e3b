// Sample texts for the components page. English only, because only developers see it.
import { CallError } from "../../api/call.ts";
import type { Look } from "../../ui/button.tsx";
import type { Tone } from "../../ui/page.tsx";

export const TITLES = {
  page: "Components",
  about: "Every part of the design system in every state, in the theme that is on.",
  colours: "Colours",
  type: "Type",
  buttons: "Buttons",
  fields: "Fields",
  choices: "Choices",
  badges: "Badges",
  numbers: "Numbers",
  table: "Table",
  states: "Loading, empty, failed",
  progress: "Progress",
  code: "Code",
} as const;

export const COLOURS = [
  "bg-page",
  "bg-side",
  "bg-surface",
  "bg-raised",
  "bg-hover",
  "bg-press",
  "bg-line",
  "bg-line-strong",
  "bg-ink",
  "bg-soft",
  "bg-faint",
  "bg-accent-fill",
  "bg-accent-wash",
  "bg-good",
  "bg-good-wash",
  "bg-warn",
  "bg-warn-wash",
  "bg-bad-fill",
  "bg-bad-wash",
] as const;

export const SIZES = {
  "text-xl font-semibold tracking-tight": "The title of a page",
  "text-lg font-semibold": "The title of a dialog",
  "font-semibold": "The title of a card",
  "text-base": "What is read",
  "text-sm text-soft": "What is said about it",
  "text-xs text-faint": "What is said beside it",
} as const;

export const LOOKS: readonly Look[] = ["primary", "plain", "quiet", "danger"];
export const TONES: readonly Tone[] = ["good", "neutral", "warn", "bad"];
export const STATES = { usual: "Usual", busy: "Busy", disabled: "Disabled" } as const;

export const FIELDS = {
  label: "Label",
  help: "What it is for.",
  value: "A value",
  error: "Must be an e-mail address.",
  example: "you@example.com",
  longer: "A longer text,\non several lines",
  code: '{ "plan": "pro" }',
  option: "One of several",
  check: "It holds",
};

export const OPTIONS = [
  { value: "one", label: "One" },
  { value: "two", label: "Two" },
  { value: "three", label: "Three" },
] as const;

export const TILES = [
  { label: "Sent", value: "48,210", note: "12% more than before" },
  { label: "Opened", value: "41.2%", note: "40.8% before" },
  { label: "Bounced", value: "0.3%", note: "0.4% before" },
];

export const DAYS = Array.from({ length: 14 }, (_unused, day) => ({
  date: `2027-01-${String(day + 1).padStart(2, "0")}`,
  sent: 400 + ((day * 137) % 300),
  opened: 150 + ((day * 71) % 120),
}));

export const ROWS = [
  { name: "Ada Lovelace", email: "ada@example.com", count: "12" },
  { name: "نور", email: "noor@example.com", count: "3" },
  {
    name: "A name that is much longer than its column has room for, and is cut",
    email: "long@example.com",
    count: "1,204",
  },
];

export const EMPTY = {
  title: "Nothing here yet",
  text: "It says what the place is for, and what to do first.",
  action: "Do it",
};

export const FAILED = new CallError("The subject is missing.", {
  status: 422,
  code: "VALIDATION_ERROR",
  requestId: "0193-an-id",
  suggestion: "Write one, then save again.",
  fields: [{ field: "subject", message: "Required." }],
});

export const SNIPPET = 'curl https://mail.example.com/v1/send \\\n  -H "Authorization: Bearer sk_secret"';
export const SECRET = "sk_secret";
export const PROGRESS = "Importing contacts";
