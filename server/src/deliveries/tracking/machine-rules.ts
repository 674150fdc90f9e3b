// What tells a machine from a person: proxies that load every picture, filters that follow every link. Data, one row a sign. Pure.
// Before it: a request for a pixel or a link. After it: book-activity.ts counts people and machines apart.

/** What is known of an opening or a click. */
export interface Visit {
  kind: "open" | "click";
  userAgent: string;
  /** What the request says it is for, from `Sec-Purpose` and its forerunners. */
  purpose: string;
  /** How long after its mail was sent; 0 when that is not known yet. */
  msAfterSending: number;
  /** Whether another link of the same mail was followed in the second before or after. */
  isInBurst: boolean;
}

export interface MachineSign {
  name: string;
  kind?: Visit["kind"];
  userAgent?: RegExp;
  purpose?: RegExp;
  withinMs?: number;
  isInBurst?: true;
}

/** So soon after a mail was sent nobody has read it, but what looks at mail on its way has. */
const SOON_MS = 5_000;
/** Two links of a mail within this time: nobody reads a page so fast. */
export const BURST_MS = 1_000;

/** A visit that has one of these signs, whichever, is a machine's. */
export const MACHINE_SIGNS: readonly MachineSign[] = [
  { name: "no user agent", userAgent: /^\s*$/ },
  // Apple Mail Privacy Protection loads the pictures of every mail, and says no more than this.
  { name: "Apple's privacy proxy", kind: "open", userAgent: /^Mozilla\/5\.0$/ },
  // Gmail loads pictures when somebody looks, and sometimes as the mail comes in.
  {
    name: "Gmail's proxy, as the mail comes in",
    kind: "open",
    userAgent: /GoogleImageProxy/,
    withinMs: SOON_MS,
  },
  { name: "a click as the mail comes in", kind: "click", withinMs: SOON_MS },
  { name: "several links at once", kind: "click", isInBurst: true },
  { name: "prefetching", purpose: /prefetch|preview|prerender/i },
  // Outlook names itself "Microsoft Office" too, and shows a mail to a person.
  {
    name: "Microsoft's link checks",
    userAgent: /BingPreview|SkypeUriPreview|Office (?:Existence|Protocol) Discovery/,
  },
  {
    name: "mail filters",
    userAgent: /barracuda|mimecast|proofpoint|ironport|fireeye|trend ?micro|sophos|symantec|forcepoint/i,
  },
  { name: "link scanners", userAgent: /urlscan|virustotal|phishtank|safe ?browsing|link ?check|scanner/i },
  {
    name: "previews in chats",
    userAgent: /Slackbot|TelegramBot|WhatsApp|facebookexternalhit|Discordbot|LinkedInBot|Twitterbot/i,
  },
  // Cubot makes telephones.
  { name: "crawlers", userAgent: /(?<!cu)bot\b|crawler|spider|slurp/i },
  {
    name: "programs",
    userAgent:
      /^(?:curl|wget|python|go-http-client|java|okhttp|axios|node|ruby|php|perl|libwww|apache-httpclient|aiohttp|scrapy|undici)\b/i,
  },
  { name: "browsers without a screen", userAgent: /HeadlessChrome|PhantomJS|Puppeteer|Playwright|Selenium/i },
];

/** The first sign that a visit is a machine's, or null: then it counts as a person's. */
export function machineSignOf(visit: Visit): MachineSign | null {
  return MACHINE_SIGNS.find((sign) => fits(sign, visit)) ?? null;
}

function fits(sign: MachineSign, visit: Visit): boolean {
  return (
    (sign.kind === undefined || sign.kind === visit.kind) &&
    (sign.userAgent === undefined || sign.userAgent.test(visit.userAgent)) &&
    (sign.purpose === undefined || sign.purpose.test(visit.purpose)) &&
    (sign.withinMs === undefined || visit.msAfterSending < sign.withinMs) &&
    (sign.isInBurst === undefined || visit.isInBurst)
  );
}
