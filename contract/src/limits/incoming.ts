// The bounds of mail that comes in by SMTP.
import { limit, MEGABYTE, type Limit } from "./limit.ts";

export const INCOMING_LIMITS = {
  inboundBytes: limit(
    10 * MEGABYTE,
    "bytes",
    "A message that the role `smtp` takes; what comes back about a mail may have the whole mail in it.",
  ),
  inboundMessages: limit(
    1000,
    "messages per project in 10 minutes",
    "Mail of people at the address of a project; what is over it is told to come back later.",
  ),
  inboundSenderMessages: limit(
    30,
    "messages per sender and project in 10 minutes",
    "The same, from one envelope sender.",
  ),
  reportMessages: limit(20_000, "messages per network in 10 minutes", "Bounces and complaints."),
  returnPathMessages: limit(20, "messages per mail in 10 minutes", "What comes back to one return path."),
  reportKilobytes: limit(
    250 * 1024,
    "KB per network in 10 minutes",
    "The same, of which the first 512 KB of each message count.",
  ),
  unreadKilobytes: limit(
    1024 * 1024,
    "KB",
    "Mail by SMTP that waits to be read; until some of it is, more is told to come back later.",
  ),
  domainReportMessages: limit(
    300,
    "messages per sender domain in 10 minutes",
    "Mail to `dmarc@` and `tlsrpt@` by SMTP; further messages are deferred.",
  ),
  domainReportNetworkMessages: limit(
    1_000,
    "messages per network in 10 minutes",
    "The same, from one network.",
  ),
  domainReportKilobytes: limit(
    50 * 1024,
    "KB per network in 10 minutes",
    "The same; the first 512 KB of each message count.",
  ),
  domainReportsADay: limit(
    1_000,
    "reports per domain a day",
    "DMARC reports that are kept of one domain, and as many TLS reports; further ones are dropped.",
  ),
  operatorMessages: limit(50, "messages in 10 minutes", "Mail to `postmaster@` and `abuse@` by SMTP."),
  operatorKilobytes: limit(
    50 * 1024,
    "KB a day",
    "The same, which is kept for a month; the first 512 KB of each message count.",
  ),
  operatorNetworkKilobytes: limit(10 * 1024, "KB per network a day", "The same, from one network."),
} as const satisfies Record<string, Limit>;
