// Tests each machine sign with examples and near misses by people, then with realistic visitors.
import { expect, test } from "vitest";
import { leastCpuMs } from "../../testing/cpu-timer.ts";
import { MACHINE_SIGNS, machineSignOf, mayProveMachine, type Hit } from "./machine-rules.ts";

const CHROME =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";
const GMAIL = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)";
const NEW_GMAIL =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0 (via ggpht.com GoogleImageProxy)";
const YAHOO = "YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html";
const PERSON: Hit = {
  kind: "click",
  userAgent: CHROME,
  purpose: "",
  msAfterSending: 600_000,
  otherLinkMs: Number.POSITIVE_INFINITY,
};
const agent = (userAgent: string, kind: Hit["kind"] = "click"): Partial<Hit> => ({ userAgent, kind });
const agents = (...names: string[]) => names.map((name) => agent(name));
const nameOf = (hit: Partial<Hit>) => machineSignOf({ ...PERSON, ...hit })?.name ?? null;

/** By sign: machines that match it and no earlier sign, and people who don't match. */
const EXAMPLES: Readonly<Record<string, { machines: Array<Partial<Hit>>; people: Array<Partial<Hit>> }>> = {
  "no user agent": {
    machines: [agent(""), agent(" ", "open"), agent("-")],
    people: [agent("Lynx/2.8.9rel.1 libwww-FM/2.14 SSL-MM/1.4.1 OpenSSL/1.1.1")],
  },
  "Mozilla and nothing else": {
    machines: [
      { kind: "open", userAgent: "Mozilla/5.0", msAfterSending: 86_400_000 },
      ...agents("Mozilla/5.0", "Mozilla/4.0", "Mozilla", "Mozilla/5.0 (compatible)"),
    ],
    people: [
      agent(
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)",
        "open",
      ),
    ],
  },
  "a mailbox provider's proxy, as the mail comes in": {
    machines: [GMAIL, NEW_GMAIL, YAHOO].map((name) => ({ ...agent(name, "open"), msAfterSending: 4_999 })),
    people: [GMAIL, NEW_GMAIL, YAHOO].map((name) => ({ ...agent(name, "open"), msAfterSending: 5_000 })),
  },
  "a proxy for pictures that follows a link": {
    machines: agents(GMAIL, NEW_GMAIL, YAHOO),
    people: [agent(CHROME)],
  },
  "a click as the mail comes in": {
    machines: [null, 0, 4_999, -50].map((msAfterSending) => ({ msAfterSending })),
    people: [{ msAfterSending: 5_000 }, { kind: "open", msAfterSending: 1_000 }],
  },
  "an open by a desktop browser as the mail comes in": {
    machines: [
      { kind: "open", msAfterSending: 0 },
      { kind: "open", msAfterSending: 999 },
    ],
    people: [
      { kind: "open", msAfterSending: 1_000 },
      { kind: "open", msAfterSending: null },
      {
        kind: "open",
        msAfterSending: 0,
        userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1",
      },
    ],
  },
  "several links at once": {
    machines: [{ otherLinkMs: 0 }, { otherLinkMs: 999 }],
    people: [{ otherLinkMs: 1_000 }],
  },
  "several links of a young mail": {
    machines: [{ otherLinkMs: 2_999, msAfterSending: 59_999 }],
    people: [
      { otherLinkMs: 3_000, msAfterSending: 10_000 },
      { otherLinkMs: 2_999, msAfterSending: 60_000 },
    ],
  },
  prefetching: {
    machines: [
      { purpose: "prefetch;prerender" },
      { purpose: "preview", kind: "open" },
      { purpose: "prefetch" },
    ],
    people: [{ purpose: "navigate" }],
  },
  "Microsoft's link checks": {
    machines: agents("Microsoft Office Existence Discovery", "Microsoft Office Protocol Discovery"),
    people: [
      agent(
        "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; Trident/7.0; Microsoft Outlook 16.0; ms-office)",
        "open",
      ),
      agent("Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17029; Pro)", "open"),
      agent("Mozilla/4.0 (compatible; ms-office; MSOffice 16)", "open"),
    ],
  },
  "mail filters": {
    machines: agents(
      "Barracuda Sentinel (EE)",
      "Mozilla/5.0 (compatible; Mimecast)",
      "ProofPoint URL Defense",
      "CiscoSecureEmail",
      "Cisco IronPort",
      "MessageLabs",
      "Symantec.cloud Link Following",
      "FireEye",
      "Mozilla/5.0 (compatible; Trellix)",
      "Sophos Email Appliance",
      "TMES",
      "Trend Micro WTP",
      "FortiMail",
      "FortiGuard",
      "FortiGate 7.4",
    ),
    people: agents(
      "Mozilla/5.0 (X11; Linux x64; rv:140.0) Gecko/20100101 Thunderbird/140.0",
      `${CHROME} Norton/142.0.0.0`,
      `${CHROME} Avast/142.0.0.0`,
    ),
  },
  "link scanners": {
    machines: agents(
      "urlscan.io",
      "Mozilla/5.0 (compatible; Link Checker)",
      "Virustotal",
      "Google-Safety",
      "Mozilla/5.0 (compatible; SecurityScan/1.0)",
      "Mozilla/5.0 (compatible; Link-Checker/2.0)",
      "web_scan/1.0",
    ),
    people: [
      agent("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1"),
    ],
  },
  "previews in chats": {
    machines: agents(
      "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
      "Slack-ImgProxy (+https://api.slack.com/robots)",
      "WhatsApp/2.24.20.89 A",
      "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0",
      "TelegramBot (like TwitterBot)",
      "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
      "LinkedInBot/1.0 (compatible; Mozilla/5.0)",
      "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com",
      "http.rb/5.1.1 (Mastodon/4.2.0; +https://mastodon.social/)",
      "meta-externalagent/1.1",
      "Discourse Forum Onebox v3.3.0",
    ),
    people: agents(
      "Mozilla/5.0 (Linux; Android 14) Chrome/142.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/480.0]",
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 [Pinterest/iOS]",
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari Line/14.0.0",
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/22A KAKAOTALK 11.0.0",
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Slack_SSB/4.41 Chrome/128.0 Electron/32.1 Safari/537.36",
    ),
  },
  "what calls itself a preview": {
    machines: agents(
      "Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b",
      "Mozilla/5.0 MicrosoftPreview/2.0 +https://aka.ms/MicrosoftPreview",
      "Google Web Preview",
    ),
    people: [agent(`${CHROME} Edg/142.0.0.0`)],
  },
  "AI fetchers": {
    machines: agents(
      "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.2; +https://openai.com/gptbot",
      "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot",
      "Mozilla/5.0 (compatible; OAI-SearchBot/1.0)",
      "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)",
      "Claude-User/1.0",
      "Mozilla/5.0 (compatible; PerplexityBot/1.0)",
      "Perplexity-User/1.0",
      "Google-Extended",
      "GoogleOther",
      "Mozilla/5.0 (compatible; MistralAI-User/1.0)",
      "cohere-ai",
      "Bytespider",
    ),
    people: [agent("Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 GSA/300.0 Mobile/15E148 Safari/604.1")],
  },
  crawlers: {
    machines: agents(
      "Mozilla/5.0 (compatible; Googlebot/2.1)",
      "SomeCrawler",
      "Yahoo! Slurp",
      "a spider",
      "Mozilla/5.0 (compatible; Mail.RU_Bot/2.0)",
      "Mozilla/5.0 (compatible; AhrefsBot/7.0)",
      "FeedFetcher-Google",
      "CCBot/2.0",
    ),
    people: agents(
      "Mozilla/5.0 (Linux; Android 9; CUBOT X19) Chrome/90.0 Mobile Safari/537.36",
      "Robotics Browser/1",
    ),
  },
  programs: {
    machines: agents(
      "curl/8.5.0",
      "Wget/1.21.4",
      "python-requests/2.32",
      "Python/3.12 aiohttp/3.9.1",
      "Python-urllib/3.11",
      "Go-http-client/2.0",
      "node",
      "node-fetch/1.0 (+https://github.com/bitinn/node-fetch)",
      "axios/1.7.2",
      "got (https://github.com/sindresorhus/got)",
      "Java/17.0.2",
      "okhttp/4.12.0",
      "Apache-HttpClient/4.5.14 (Java/17.0.9)",
      "libwww-perl/6.67",
      "Ruby",
      "GuzzleHttp/7",
      "PostmanRuntime/7.37.3",
      "Mozilla/5.0 zgrab/0.x",
      "Mozilla/5.0 (compatible; Nmap Scripting Engine)",
      "Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.19041",
    ),
    people: agents(
      "Mozilla/5.0 (curlew)",
      "Nodebrowser/1.0",
      "Lynx/2.8.9rel.1 libwww-FM/2.14",
      "Dalvik/2.1.0 (Linux; U; Android 14; SM-S918B Build/UP1A)",
      "Spark/3.1 CFNetwork/1498 Darwin/23.6.0",
    ),
  },
  monitors: {
    machines: agents(
      "Mozilla/5.0+(compatible; Uptime/2.0)",
      "Pingdom.com_1.4",
      "StatusCake_Pagespeed",
      "Mozilla/5.0 (compatible; Health-Check/1.0)",
      "health_check",
      "Mozilla/5.0 (Linux) AppleWebKit/537.36 Chrome/142.0 Safari/537.36 Chrome-Lighthouse",
    ),
    people: [agent(CHROME)],
  },
  "browsers without a screen": {
    machines: agents(
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/142.0.0.0 Safari/537.36",
      "Mozilla/5.0 (Unknown; Linux x86_64) AppleWebKit/538.1 PhantomJS/2.1.1 Safari/538.1",
    ),
    people: [agent("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36")],
  },
  "Internet Explorer before 8": {
    machines: agents(
      "Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1)",
      "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 6.0)",
    ),
    people: agents(
      "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 6.1; Trident/7.0; SLCC2; .NET CLR 2.0.50727)",
      "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 6.0; SLCC1; .NET CLR 2.0.50727; MSOffice 12)",
      "Outlook-Express/7.0 (MSIE 7.0; Windows NT 6.1; TmstmpExt)",
      "Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2; Trident/6.0)",
    ),
  },
  "browsers that nobody has had for ten years": {
    machines: agents(
      "Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/41.0.2228.0 Safari/537.36",
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/27.0.1453.93 Safari/537.36",
      "Mozilla/5.0 (Windows NT 6.1; WOW64; rv:40.0) Gecko/20100101 Firefox/40.1",
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246",
    ),
    people: agents(
      "Mozilla/5.0 (Windows NT 5.1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/49.0.2623.112 Safari/537.36",
      "Mozilla/5.0 (Windows NT 5.1; rv:52.0) Gecko/20100101 Firefox/52.0",
      "Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/38.0.2125.122 Safari/537.36",
      "Mozilla/5.0 (Mobile; Nokia_8110_4G; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5",
      "Mozilla/5.0 (X11; U; Linux armv7l like Android; en-us) AppleWebKit/531.2+ (KHTML, like Gecko) Version/5.0 Safari/533.2+ Kindle/3.0+",
    ),
  },
};

test.each(MACHINE_SIGNS.map((sign) => [sign.name, sign] as const))(
  "classifies as a machine: %s",
  (name, { source }) => {
    const { machines = [], people = [] } = EXAMPLES[name] ?? {};
    expect(machines.map((hit) => [hit, nameOf(hit)])).toEqual(machines.map((hit) => [hit, name]));
    expect(people.map((hit) => [hit, nameOf(hit)])).toEqual(people.map((hit) => [hit, null]));
    expect(machines.length * people.length).toBeGreaterThan(0);
    expect(source).not.toBe("");
  },
);

test("every example belongs to a sign", () => {
  expect(Object.keys(EXAMPLES)).toEqual(MACHINE_SIGNS.map(({ name }) => name));
});

test.for([
  CHROME,
  `${CHROME} Edg/142.0.0.0`,
  `${CHROME} OPR/120.0.0.0`,
  `${CHROME} Vivaldi/7.0`,
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0",
  "Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15",
  "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/22B83 [FBAN/FBIOS;FBAV/490.0]",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/22B83 Instagram 358.0.0",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/22B83 LinkedInApp/9.30",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/22B83 Twitter for iPhone/10.60",
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 DuckDuckGo/7 Safari/605.1.15",
  "Mozilla/5.0 (Linux; Android 14; SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36",
  "Mozilla/5.0 (Linux; U; Android 10; en-US; RMX1911) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/78.0.3904.108 UCBrowser/13.4.0.1306 Mobile Safari/537.36",
  "Mozilla/5.0 (Linux; arm_64; Android 13) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 YaBrowser/24.12 Mobile Safari/537.36",
  "Mozilla/5.0 (Linux; Android 14; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/142.0 Mobile Safari/537.36 MicroMessenger/8.0",
  "Mozilla/5.0 (Linux; Android 11; KFTRWI) AppleWebKit/537.36 (KHTML, like Gecko) Silk/120.1 like Chrome/120.0 Safari/537.36",
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/75.0 Safari/537.36 Kindle/3.0+",
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) eMClient/10.0",
  "Outlook-iOS/723.3 (iPhone; iOS 18.1)",
  "Microsoft Office/16.78 (Macintosh; Microsoft Outlook)",
  "dataaccessd/1.0",
  "Apple-iPhone14C5/2202.83",
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 Evolution/3.52",
  "w3m/0.5.3",
  "Opera/9.80 (J2ME/MIDP; Opera Mini/7.1.32052/29.3709; U; en) Presto/2.8.119 Version/11.10",
])("classifies opens and clicks as a person's: %s", (userAgent) => {
  expect([nameOf(agent(userAgent, "open")), nameOf(agent(userAgent))]).toEqual([null, null]);
});

test("only a click on a recent email may still turn out to be a machine's", () => {
  expect(mayProveMachine({ ...PERSON, msAfterSending: 59_999 })).toBe(true);
  expect(mayProveMachine({ ...PERSON, msAfterSending: 60_000 })).toBe(false);
  expect(mayProveMachine({ ...PERSON, kind: "open", msAfterSending: 0 })).toBe(false);
});

test("classifies the longest user agent immediately", async () => {
  for (const piece of ["Windows NT ", "Viber ", "Mozilla/5.0 (", "X11; ", ") Chrome/4", "bot", "urlsite "]) {
    const userAgent = piece.repeat(100_000);
    expect(await leastCpuMs(20, () => machineSignOf({ ...PERSON, userAgent }))).toBeLessThan(20);
  }
});
