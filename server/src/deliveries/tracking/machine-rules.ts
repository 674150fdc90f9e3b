// Signs that tell machines from people, such as image proxies and link scanners. One row per sign. Pure.

/** The facts about an open or a click. */
export interface Hit {
  kind: "open" | "click";
  userAgent: string;
  /** The stated purpose of the request, from `Sec-Purpose` and its predecessors. */
  purpose: string;
  /** Time since the email was sent; null if not known yet. */
  msAfterSending: number | null;
  /** Time to the nearest click on another link of the same email; infinite without one. */
  otherLinkMs: number;
}

export interface MachineSign {
  name: string;
  /** The source of this sign: the vendor, a standard, or the agent's own name. */
  source: string;
  kind?: Hit["kind"];
  userAgent?: RegExp;
  /** Agents that look alike but show the email to a person. */
  except?: RegExp;
  purpose?: RegExp;
  /** Only within this time after sending. A time that is not known yet counts as that soon. */
  withinMs?: number;
  /** Only if the time of sending is known, because an email in doubt may have been delivered long ago. */
  isSentForSure?: true;
  /** Only if another link was clicked within this time. */
  otherLinkWithinMs?: number;
}

/** No person reads an email this soon after sending, but filters do. */
const SOON_MS = 5_000;
/** A desktop program shows an email only after its owner opened it. A filter that names itself a browser is faster. */
const AT_ONCE_MS = 1_000;
/** No person clicks two links of an email within this time. */
export const BURST_MS = 1_000;
/** While an email is this recent, clicks further apart may come from a filter that follows its links in turn. */
const YOUNG_MS = 60_000;
export const SLOW_BURST_MS = 3_000;
/** Longer user agents are cut. */
const USER_AGENT_MAX_CHARACTERS = 1_000;

const ITS_NAME = "the agent's own name";
const PROXIES = /GoogleImageProxy|YahooMailProxy/;

/** A visit that matches any of these signs is a machine's. */
export const MACHINE_SIGNS: readonly MachineSign[] = [
  {
    name: "no user agent",
    source: "RFC 9110 §10.1.5: a user agent should send one; every browser and mail program does",
    userAgent: /^-?$/,
  },
  // Apple Mail Privacy Protection loads all images and sends only this. No browser does.
  {
    name: "Mozilla and nothing else",
    source: "https://www.apple.com/legal/privacy/data/en/mail-privacy-protection/",
    userAgent: /^\s*Mozilla(?:\/\d(?:\.\d{1,2})?)?(?: \(compatible;?\))?\s*$/i,
  },
  // Both load images when a person looks, and sometimes when the email arrives.
  {
    name: "a mailbox provider's proxy, as the mail comes in",
    source: "https://support.google.com/mail/answer/145919, https://help.yahoo.com/kb/SLN28749.html",
    kind: "open",
    userAgent: PROXIES,
    withinMs: SOON_MS,
  },
  {
    name: "a proxy for pictures that follows a link",
    source: "https://support.google.com/mail/answer/145919, https://help.yahoo.com/kb/SLN28749.html",
    kind: "click",
    userAgent: PROXIES,
  },
  {
    name: "a click as the mail comes in",
    source: "https://learn.microsoft.com/defender-office-365/safe-links-about",
    kind: "click",
    withinMs: SOON_MS,
  },
  {
    name: "an open by a desktop browser as the mail comes in",
    source: "https://learn.microsoft.com/defender-office-365/safe-attachments-about",
    kind: "open",
    userAgent: /Windows NT|Macintosh|X11; /,
    withinMs: AT_ONCE_MS,
    isSentForSure: true,
  },
  {
    name: "several links at once",
    source: "https://learn.microsoft.com/defender-office-365/safe-links-about",
    kind: "click",
    otherLinkWithinMs: BURST_MS,
  },
  {
    name: "several links of a young mail",
    source: "https://learn.microsoft.com/defender-office-365/safe-links-about",
    kind: "click",
    withinMs: YOUNG_MS,
    otherLinkWithinMs: SLOW_BURST_MS,
  },
  {
    name: "prefetching",
    source:
      "https://fetch.spec.whatwg.org/#sec-purpose-header, and its forerunners Purpose, X-Purpose, X-Moz",
    purpose: /prefetch|preview|prerender/i,
  },
  // Outlook also calls itself "Microsoft Office" but shows the email to a person.
  {
    name: "Microsoft's link checks",
    source: ITS_NAME,
    userAgent:
      /Office (?:Existence|Protocol) Discovery|Microsoft-WebDAV|Microsoft URL Control|Microsoft-CryptoAPI/i,
  },
  {
    name: "mail filters",
    source: ITS_NAME,
    userAgent:
      /barracuda|mimecast|proofpoint|urldefense|iron ?port|cisco ?(?:secure|talos|umbrella|email)|fireeye|trellix|trend ?micro|\bTMES\b|tmufe|sophos|symantec|message ?labs|blue ?coat|forcepoint|websense|fortinet|forti(?:mail|guard|gate)|zscaler|palo ?alto|check ?point|avanan|vade ?secure|retarus|hornet ?security|spamtitan|cloudmark|egress|darktrace|ironscales|perception-?point|cyren|commtouch|kaspersky|mcafee|siteadvisor|sonicwall|safe ?links?\b|spamassassin|rspamd|clamav/i,
  },
  {
    name: "link scanners",
    source: ITS_NAME,
    userAgent:
      /urlscan|virustotal|phish|safe ?browsing|google-?safety|link ?(?:check|scan|valid)|(?:url|site|web|mail|email|spam|virus|malware|security|vulnerability) ?(?:scan|check|inspect|analy[sz])|scanner|censys|shodan|nuclei|nikto|sqlmap|expanse|sandbox/i,
  },
  {
    name: "previews in chats",
    source:
      "https://api.slack.com/robots, https://developers.facebook.com/docs/sharing/webmasters/web-crawlers, and the agents' own names",
    userAgent:
      /Slackbot|Slack-ImgProxy|TelegramBot|^WhatsApp\/|facebookexternalhit|facebookcatalog|meta-external|Facebot|Discordbot|LinkedInBot|Twitterbot|SkypeUriPreview|redditbot|Pinterest\/0|vkShare|line-poker|kakaotalk-scrap|Iframely|Embedly|Onebox|Cardyb|Mastodon|Pleroma|Misskey|Synapse|Viber\b.*\bURL|Snap URL|bitlybot/i,
  },
  {
    name: "what calls itself a preview",
    source: ITS_NAME,
    userAgent: /preview|prerender|thumbnail|screenshot|unfurl|link ?expand|camo\b/i,
    except: PROXIES,
  },
  {
    name: "AI fetchers",
    source:
      "https://platform.openai.com/docs/bots, https://docs.perplexity.ai/guides/bots, https://developers.google.com/search/docs/crawling-indexing/overview-google-crawlers, and the agents' own names",
    userAgent:
      /ChatGPT|OAI-|GPTBot|OpenAI|Claude-|ClaudeBot|anthropic|Perplexity|MistralAI|cohere-|Google-(?:Extended|CloudVertex|Agent|Notebook|Firebase|Gemini|Read)|Gemini-|GoogleOther|GoogleAgent|Bytespider|Diffbot|Firecrawl|YouBot|PhindBot|ImagesiftBot|omgili|Manus-User|NovaAct|DuckAssist|Devin\b|LangChain|LlamaIndex|\bAI[- ]?(?:agent|fetcher|assistant)\b/i,
  },
  // Cubot makes phones.
  {
    name: "crawlers",
    source: ITS_NAME,
    userAgent:
      /(?<!cu)bots?(?:\b|_)|crawl|spider|slurp|scraper|scrapy|archiver|fetcher|harvest|indexer|FeedFetcher|Feedly|Mediapartners|APIs-Google|Google-(?:InspectionTool|Site|Apps-Script|Structured)|Google (?:Favicon|Web)|GoogleDocs|ia_archiver|heritrix|nutch|baiduspider|facebookexternalua/i,
  },
  {
    name: "programs",
    source: ITS_NAME,
    userAgent:
      /^(?:curl|libcurl|pycurl|wget|wget2|aria2|httpie|python|go-http-client|java|jakarta|okhttp|axios|node|node-fetch|undici|got|superagent|bun|deno|ruby|http\.rb|httparty|faraday|typhoeus|mechanize|php|guzzle|guzzlehttp|symfony|perl|lwp|libwww|apache-httpclient|apache-httpasyncclient|asynchttpclient|reactornetty|jersey|spring|aiohttp|httpx|urllib|scrapy|reqwest|hyper|ureq|rust|restsharp|\.net|postmanruntime|postman|insomnia|dart|elixir|hackney|req|lua|resty|winhttp|powershell|jetty|vert\.x|fasthttp|grequests|colly|zgrab|masscan|nmap|k6|ab|siege|wrk|vegeta|artillery|http-client|httpclient|httpunit)(?:\b|[-_/])|\b(?:zgrab|masscan|nmap|httpunit|fasthttp|libwww-perl|python-requests|python-urllib|python-httpx|aiohttp|Apache-HttpClient|Go-http-client|WindowsPowerShell|GuzzleHttp|node-fetch|okhttp)\b/i,
  },
  {
    name: "monitors",
    source: ITS_NAME,
    userAgent:
      /uptime|pingdom|statuscake|site24x7|datadog|new ?relic|check_http|nagios|zabbix|monitis|checkly|freshping|hetrix|lighthouse|page ?speed|gtmetrix|webpagetest|catchpoint|dynatrace|rigor|\bmonitor(?:ing)?\b|health ?check|kube-probe|ELB-Health|Cloudflare-/i,
  },
  {
    name: "browsers without a screen",
    source: "https://developer.chrome.com/docs/chromium/headless, and the agents' own names",
    userAgent:
      /Headless|PhantomJS|SlimerJS|Puppeteer|Playwright|Selenium|WebDriver|jsdom|HtmlUnit|Splash\b|Nightmare|Zombie\.js|Cypress/i,
  },
  // Outlook and Internet Explorer in compatibility mode send MSIE 7.0 too, followed by their real version.
  {
    name: "Internet Explorer before 8",
    source: "version 8 replaced them in 2009; whatever shows pages by a later one names its Trident too",
    userAgent: /\bMSIE [2-7]\./,
    except: /Trident\/|Outlook|ms-?office|Lotus|Opera|IEMobile|Windows CE/i,
  },
  // Scanners pick these from old lists. Desktop browsers in use today update automatically or stopped at a later version.
  {
    name: "browsers that nobody has had for ten years",
    source:
      "https://chromereleases.googleblog.com: Chrome 49 (2016) was the last for Windows XP; https://www.mozilla.org/firefox/52.0/releasenotes/: so was Firefox 52 ESR (2017)",
    userAgent:
      /(?:Windows NT|Macintosh|X11; [^)]{0,60}Linux)[^)]{0,80}\).{0,120}?(?:Chrome\/(?:[1-9]|[1-3]\d|4[0-8])\.[\d.]{1,20} Safari\/[\d.]{1,12}$|Firefox\/(?:[1-9]|[1-4]\d|5[01])\.[\d.]{1,12}$|Edge\/12\.[\d.]{1,12}$)/,
    except: PROXIES,
  },
];

/** Returns the first matching sign, or null if the visit counts as a person's. */
export function machineSignOf(hit: Hit): MachineSign | null {
  const userAgent = hit.userAgent.slice(0, USER_AGENT_MAX_CHARACTERS).trim();
  // Agents write their names with spaces, hyphens or underscores.
  const spaced = userAgent.replace(/[-_]/g, " ");
  return MACHINE_SIGNS.find((sign) => fits(sign, { ...hit, userAgent }, spaced)) ?? null;
}

/** Returns whether a later click on another link may still reveal a machine. True while the email is recent. */
export function mayProveMachine(hit: Hit): boolean {
  return hit.kind === "click" && (hit.msAfterSending ?? 0) < YOUNG_MS;
}

function fits(sign: MachineSign, hit: Hit, spacedAgent: string): boolean {
  const { userAgent } = sign;
  return (
    (sign.kind === undefined || sign.kind === hit.kind) &&
    (userAgent === undefined || userAgent.test(hit.userAgent) || userAgent.test(spacedAgent)) &&
    (sign.except === undefined || !sign.except.test(hit.userAgent)) &&
    (sign.purpose === undefined || sign.purpose.test(hit.purpose)) &&
    (sign.withinMs === undefined || (hit.msAfterSending ?? 0) < sign.withinMs) &&
    (sign.isSentForSure === undefined || hit.msAfterSending !== null) &&
    (sign.otherLinkWithinMs === undefined || hit.otherLinkMs < sign.otherLinkWithinMs)
  );
}
