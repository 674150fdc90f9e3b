// Limits of incoming email by SMTP.
import { limit, MEGABYTE, type Limit } from "./limit.ts";

export const INCOMING_LIMITS = {
  inboundBytes: limit(
    10 * MEGABYTE,
    "bytes",
    "Size of a message that the role `smtp` accepts. A bounce can contain the entire original email.",
  ),
  inboundMessages: limit(
    1000,
    "messages per project in 10 minutes",
    "Messages from people to a project's inbound address. More than that get a temporary error.",
  ),
  inboundSenderMessages: limit(
    30,
    "messages per sender and project in 10 minutes",
    "The same limit for one envelope sender.",
  ),
  inboundKilobytes: limit(
    2 * 1024 * 1024,
    "KB per project a day",
    "The same messages by size, because they are stored whole.",
  ),
  inboundSenderKilobytes: limit(
    256 * 1024,
    "KB per sender and project a day",
    "The same limit for one envelope sender.",
  ),
  inboundNetworkKilobytes: limit(
    1024 * 1024,
    "KB per network and project a day",
    "The same limit for one network, because senders can be forged.",
  ),
  inboundHeaderBytes: limit(
    512 * 1024,
    "bytes",
    "The header of a message to a project's inbound address. A longer one is rejected.",
  ),
  inboundSignatures: limit(
    10,
    "signatures",
    "DKIM signatures that are verified of a received email. Others are ignored.",
  ),
  receivedSearched: limit(
    10_000,
    "emails",
    "Received emails that `subject` of `GET /received-emails` reads, starting with the newest or after the cursor.",
  ),
  reportMessages: limit(20_000, "messages per network in 10 minutes", "Bounces and complaints."),
  returnPathMessages: limit(20, "messages per email in 10 minutes", "Messages returned to one return path."),
  reportKilobytes: limit(
    250 * 1024,
    "KB per network in 10 minutes",
    "The same limit by size; the first 512 KB of each message count.",
  ),
  unreadKilobytes: limit(
    1024 * 1024,
    "KB",
    "Unprocessed messages received by SMTP. More than that get a temporary error.",
  ),
  domainReportMessages: limit(
    300,
    "messages per sender domain in 10 minutes",
    "Messages to `dmarc@` and `tlsrpt@` by SMTP; further messages are deferred.",
  ),
  domainReportNetworkMessages: limit(
    1_000,
    "messages per network in 10 minutes",
    "The same limit for one network.",
  ),
  domainReportKilobytes: limit(
    50 * 1024,
    "KB per network in 10 minutes",
    "The same limit by size; the first 512 KB of each message count.",
  ),
  domainReportsADay: limit(
    1_000,
    "reports per domain a day",
    "DMARC reports kept per domain, with the same number of TLS reports in addition; further reports are dropped.",
  ),
  operatorMessages: limit(50, "messages in 10 minutes", "Messages to `postmaster@` and `abuse@` by SMTP."),
  operatorKilobytes: limit(
    50 * 1024,
    "KB a day",
    "The same limit by size, as messages are kept for a month; the first 512 KB of each count.",
  ),
  operatorNetworkKilobytes: limit(10 * 1024, "KB per network a day", "The same limit for one network."),
} as const satisfies Record<string, Limit>;
