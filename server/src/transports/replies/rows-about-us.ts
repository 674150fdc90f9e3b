// Classification rows for providers with their own wording or codes, and then for replies about us with any code.
import type { RejectionRow } from "./reply-row.ts";
import * as words from "./reply-words.ts";

export const ROWS_ABOUT_US: readonly RejectionRow[] = [
  // Provider-specific rows.
  {
    speaker: ["Microsoft"],
    status: "X.4.1",
    words: /recipient address(?:es)? rejected/i,
    of: "recipient",
    cause: "unknown-user",
    source: "Microsoft Learn, NDR 550 5.4.1: addresses that are not in the directory",
    sample: "550 5.4.1 Recipient address rejected: Access denied. AS(201806281) [x.protection.outlook.com]",
  },
  {
    status: "X.4.1",
    words: /recipient address(?:es)? rejected ?: access denied/i,
    of: "recipient",
    cause: "unknown-user",
    source: "As above, without the host name",
    sample: "550 5.4.1 Recipient address rejected: Access denied",
  },
  {
    speaker: ["Yahoo"],
    words: /\bdd\b.{0,40}user doesn.t have an? .{1,60} account/i,
    of: "recipient",
    cause: "unknown-user",
    source: "Yahoo Sender Hub, SMTP error codes: 554 delivery error dd, sent after DATA",
    sample: "554 delivery error: dd This user doesn't have a yahoo.com account (ada@yahoo.com) [0]",
    samplePart: "message",
  },
  {
    speaker: ["Orange"],
    words: /LPN007|_416\b/i,
    of: "recipient",
    cause: "unknown-user",
    source: "Orange, postmaster page: code 416 means an unknown recipient",
    sample: "550 5.5.0 Adresse d au moins un destinataire invalide. Invalid recipient. LPN007_416",
  },
  {
    speaker: ["MessageLabs"],
    code: "542",
    of: "recipient",
    cause: "unknown-user",
    source: "Symantec Email Security.cloud: 542 at RCPT means an unregistered address",
    sample: "542 ada@example.com Rejected",
    sampleHost: "cluster1.us.messagelabs.com",
  },
  {
    speaker: ["Facebook"],
    words: /RCP-P[2-9]/i,
    cause: "recipient-refuses",
    source: "Facebook postmaster, response codes: RCP codes refer to the recipient's settings",
    sample: "550 5.1.1 RCP-P2 Refused due to recipient preferences http://postmaster.facebook.com/",
  },
  {
    speaker: ["Apple"],
    status: "X.1.1",
    words: /inactive email address|no user record/i,
    of: "recipient",
    cause: "unknown-user",
    source:
      "Apple, postmaster information for iCloud Mail: 550 5.1.1 means an address that no longer accepts email",
    sample: "550 5.1.1 <ada@icloud.com>: inactive email address",
    sampleHost: "mx01.mail.icloud.com",
  },
  {
    speaker: ["au (KDDI)"],
    words: /(?:^|\s): user unknown/i,
    cause: "recipient-refuses",
    source:
      "au: email stopped by the subscriber's domain filter is rejected like an unknown user, but without the address",
    sample: "550 : User unknown",
    sampleHost: "lsean.ezweb.ne.jp",
    samplePart: "unknown",
  },
  {
    speaker: ["au (KDDI)"],
    words: /@: user unknown/i,
    of: "recipient",
    cause: "unknown-user",
    source: "au: preceded by the address, this is the reply to RCPT",
    sample: "550 <ada@ezweb.ne.jp>: User unknown",
    samplePart: "unknown",
  },
  {
    speaker: ["docomo"],
    words: /unknown user/i,
    cause: "recipient-refuses",
    source: "docomo: email stopped by the subscriber's domain filter is rejected like an unknown user",
    sample: "550 Unknown user ada@docomo.ne.jp",
    samplePart: "unknown",
  },

  {
    speaker: ["Amazon SES, receiving"],
    words: /mailbox does not exist/i,
    cause: "recipient-refuses",
    source:
      "SES developer guide, bounce action: an account rule bounces email that SES accepted, with a predefined text",
    sample: "550 5.1.1 Mailbox does not exist",
    samplePart: "unknown",
    sampleHost: "inbound-smtp.eu-west-1.amazonaws.com",
  },
  {
    words: /^\s?#5\.1\.0 address rejected/i,
    of: "recipient",
    cause: "unknown-user",
    source: "Cisco Email Security: reply for a recipient missing from its table or directory",
    sample: "550 #5.1.0 Address rejected.",
  },

  // Codes that are about us with any wording.
  {
    status: "X.1.7",
    cause: "sender-refused",
    source: "RFC 3463",
    sample: "553 5.1.7 me@example.com",
    samplePart: "mail",
  },
  { status: "X.1.8", cause: "sender-refused", source: "RFC 3463", sample: "550 5.1.8 me@example.com" },
  {
    status: "X.7.27",
    cause: "sender-refused",
    source: "RFC 7505 §4.2: the domain of the sender has a null MX",
    sample: "550 5.7.27 domain example.org has a null MX, which does not accept mail",
  },
  ...(["X.7.20", "X.7.21", "X.7.22", "X.7.23", "X.7.24", "X.7.26", "X.7.515"] as const).map(
    (status): RejectionRow => ({
      status,
      cause: "authentication",
      source:
        status === "X.7.515"
          ? "Microsoft, requirements for bulk senders"
          : "RFC 7372, Gmail SMTP error reference",
      sample: `550 ${status.replace("X", "5")} Not like this`,
    }),
  ),
  // About us, with any code. Rows about the sender come first because they may say that its user is unknown.
  {
    words: words.SENDER,
    cause: "sender-refused",
    source: "Exim `verify = sender`, Postfix reject_unknown_sender_domain, RFC 3463 X.1.7 and X.1.8",
    sample: "550 5.1.1 Sender verify failed: no such user",
  },
  {
    words: words.BUSY_MAILBOX,
    of: "recipient",
    cause: "recipient-refuses",
    source: "Gmail, SMTP error reference: 450 and 550 5.2.1, a mailbox that receives too much at a time",
    sample: "550 5.2.1 The user you are trying to contact is receiving mail too quickly",
  },
  {
    words: words.REVERSE_DNS,
    cause: "reverse-dns",
    source: "RFC 7372 X.7.25, Postfix reject_unknown_client_hostname, GoDaddy, GMX",
    sample: "550 Client host rejected: cannot find your reverse hostname",
  },
  {
    words: words.REPUTATION,
    cause: "reputation",
    source: "Blocklists and their users: Spamhaus, Spamcop, Microsoft 5.7.606, Apple HM08, Proofpoint",
    sample: "550 5.1.1 Service unavailable; client host blocked using a list",
  },
  {
    words: words.RATE,
    cause: "rate",
    source: "Postfix anvil, Exim ratelimit, Gmail 5.4.5 and 5.7.28, hosting panels: hourly limits",
    sample: "550 5.1.1 Too many recipients this hour",
  },
  {
    words: words.AUTHENTICATION,
    cause: "authentication",
    source: "RFC 7372, Gmail 5.7.26, Microsoft 5.7.515, GoDaddy IB508",
    sample: "550 5.1.0 Not allowed by the SPF record of the domain",
  },
  {
    words: words.RELAYING,
    cause: "relaying",
    source: "Postfix reject_unauth_destination, qmail rcpthosts, Exchange 5.7.54",
    sample: "553 Sorry, that domain isn't in my list of allowed rcpthosts",
  },
  {
    code: "5xx",
    words: words.TAKES_NO_MAIL,
    of: "recipient",
    cause: "takes-no-mail",
    source: "RFC 7505 §4.1, Exim",
    sample: "550 The domain does not accept any mail",
  },
];
