// Identifies the provider or server software behind a reply by its wording or host name. Pure.

interface SpeakerRow {
  name: string;
  /** Wording used only by this provider. */
  words?: RegExp;
  /** Its mail hosts and the domains of its mailboxes. */
  hosts?: RegExp;
}

/** From the providers' pages for senders and from their actual replies. The first match wins. */
const SPEAKERS: readonly SpeakerRow[] = [
  {
    name: "Gmail",
    words: /\bgsmtp\b|support\.google\.com|googlemail/i,
    hosts: /(?:^|\.)(?:google|gmail|googlemail)\.com$/i,
  },
  {
    name: "Microsoft",
    words:
      /protection\.outlook\.com|outlook\.com\b|sender\.office\.com|aka\.ms\/|go\.microsoft\.com|mail\.live\.com|\bAS\(\d{3,6}\)/i,
    hosts: /(?:^|\.)(?:outlook|hotmail|live|msn|office365)\.[a-z.]{2,6}$/i,
  },
  {
    name: "Yahoo",
    words:
      /postmaster\.yahooinc\.com|senders\.yahooinc|yahoodns|help\.yahoo\.com|postmaster\.aol\.com|\bdelivery error: dd\b/i,
    hosts: /(?:^|\.)(?:yahoodns\.net|yahoo\.[a-z.]{2,6}|aol\.com|ymail\.com|rocketmail\.com)$/i,
  },
  {
    name: "Apple",
    words: /support\.apple\.com|\[(?:CS|HM|HT)\d\d\]/i,
    hosts: /(?:^|\.)(?:icloud|me|mac|apple)\.com$/i,
  },
  {
    name: "GMX and WEB.DE",
    words: /postmaster\.(?:gmx|web|1and1|kundenserver)\.|gmx\.(?:net|com|de)\b/i,
    hosts: /(?:^|\.)(?:gmx\.[a-z]{2,3}|web\.de|kundenserver\.de|mail\.com|1and1\.[a-z]{2,3})$/i,
  },
  { name: "Orange", words: /\bofr_\d|\bLPN\d{3}|\bOFR\d{3}/i, hosts: /(?:^|\.)(?:orange|wanadoo)\.fr$/i },
  { name: "Free", words: /postmaster\.free\.fr/i, hosts: /(?:^|\.)free\.fr$/i },
  { name: "SFR", hosts: /(?:^|\.)(?:sfr|neuf)\.fr$/i },
  { name: "Comcast", words: /postmaster\.comcast\.net/i, hosts: /(?:^|\.)comcast\.net$/i },
  {
    name: "Mail.ru",
    words: /help\.mail\.ru|\bcorp\.mail\.ru/i,
    hosts: /(?:^|\.)(?:mail|bk|inbox|list)\.ru$/i,
  },
  { name: "Yandex", words: /yandex\.(?:ru|com|net)/i, hosts: /(?:^|\.)(?:yandex\.[a-z]{2,3}|ya\.ru)$/i },
  { name: "QQ", words: /service\.mail\.qq\.com|qcloud/i, hosts: /(?:^|\.)(?:qq|foxmail)\.com$/i },
  { name: "NetEase", words: /mail\.163\.com|help\.163\.com/i, hosts: /(?:^|\.)(?:163|126|netease)\.com$/i },
  { name: "Facebook", words: /postmaster\.facebook\.com|\bRCP-P\d/i, hosts: /(?:^|\.)facebook\.com$/i },
  {
    name: "GoDaddy",
    words: /\bIB\d{3}\b|x\.co\/|secureserver/i,
    hosts: /(?:^|\.)(?:secureserver\.net|godaddy\.com)$/i,
  },
  { name: "docomo", words: /docomo\.ne\.jp/i, hosts: /(?:^|\.)docomo\.ne\.jp$/i },
  {
    name: "au (KDDI)",
    words: /ezweb\.ne\.jp|\bau\.com\b|\bau mail\b/i,
    hosts: /(?:^|\.)(?:ezweb\.ne\.jp|au\.com|dion\.ne\.jp)$/i,
  },
  { name: "SoftBank", hosts: /(?:^|\.)softbank\.(?:ne\.)?jp$/i },
  { name: "Zoho", words: /zohomail|zoho\.com/i, hosts: /(?:^|\.)zoho(?:mail)?\.(?:com|eu)$/i },
  { name: "Amazon SES, receiving", hosts: /^inbound-smtp\.[a-z0-9-]{1,40}\.amazonaws\.com$/i },
  { name: "Amazon SES", words: /amazonses\.com|amazonaws/i, hosts: /(?:^|\.)(?:amazonses|amazonaws)\.com$/i },
  { name: "SendGrid", words: /sendgrid/i, hosts: /(?:^|\.)sendgrid\.net$/i },
  { name: "Cloudflare", words: /cloudflare/i, hosts: /(?:^|\.)cloudflare\.net$/i },
  { name: "Mimecast", words: /mimecast/i, hosts: /(?:^|\.)mimecast(?:-[a-z]{1,20})?\.[a-z.]{2,6}$/i },
  { name: "Proofpoint", words: /proofpoint|pphosted/i, hosts: /(?:^|\.)(?:pphosted|ppe-hosted)\.com$/i },
  { name: "Barracuda", words: /barracuda/i, hosts: /(?:^|\.)barracudanetworks\.com$/i },
  { name: "MessageLabs", words: /messagelabs|symanteccloud/i, hosts: /(?:^|\.)messagelabs\.com$/i },
  { name: "Trend Micro", words: /trendmicro|interscan/i, hosts: /(?:^|\.)trendmicro\.(?:com|eu)$/i },
  { name: "Spamhaus", words: /spamhaus/i },
  { name: "Lotus Domino", words: /domino directory|lotus smtp|lotus domino/i },
];

/** Returns the provider of a reply, preferring host names over wording. Returns null if the provider is unknown. */
export function speakerOf(text: string, hosts: readonly string[]): string | null {
  const byHost = hosts.flatMap((host) => SPEAKERS.find((one) => one.hosts?.test(host))?.name ?? []);
  return byHost[0] ?? SPEAKERS.find(({ words }) => words?.test(text))?.name ?? null;
}
