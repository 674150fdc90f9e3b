// Rate limits for email received over SMTP. Senders over a limit get a temporary error, so nothing is lost.
import { createHash } from "node:crypto";
import { domainOf, localPartOf } from "@postloft/contract/address.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { RateLimiter } from "../platform/http/rate-limit.ts";
import { networkOf } from "../platform/http/visitor-network.ts";
import type { ReturnPaths } from "./return-path.ts";

const RATE_WINDOW_SECONDS = 600;
const DAY_SECONDS = 86_400;

interface Counted {
  bucket: string;
  limit: number;
  amount?: number;
  windowSeconds?: number;
}

/** Returns the limits for reports: per email and per sending network. */
export function reportTakes(
  address: string,
  remoteAddress: string,
  returnPaths: Pick<ReturnPaths, "read">,
): Counted[] {
  const lower = address.toLowerCase();
  const ofMail = { bucket: bucketOf(`report\n${lower}`), limit: LIMITS.returnPathMessages.value };
  return [
    { bucket: bucketOf(`reports\n${networkOf(remoteAddress)}`), limit: LIMITS.reportMessages.value },
    ...(returnPaths.read(localPartOf(lower)) === null ? [] : [ofMail]),
  ];
}

/** Returns the limit for the stored bytes of reports, taken once the size is known. */
export function reportBytesTakes(remoteAddress: string, bytes: number): Counted[] {
  const bucket = bucketOf(`report bytes\n${networkOf(remoteAddress)}`);
  return [{ bucket, limit: LIMITS.reportKilobytes.value, amount: Math.ceil(bytes / 1024) }];
}

/**
 * Returns the limits for DMARC and TLS reports, of which a receiver sends one per domain. Limited by the sender's domain, which may be
 * forged, and by network.
 */
export function domainReportTakes(sender: string, remoteAddress: string): Counted[] {
  const domain = domainOf(sender).toLowerCase();
  return [
    { bucket: bucketOf(`domain reports\n${domain}`), limit: LIMITS.domainReportMessages.value },
    {
      bucket: bucketOf(`domain reports of network\n${networkOf(remoteAddress)}`),
      limit: LIMITS.domainReportNetworkMessages.value,
    },
  ];
}

/** Returns the limit for the bytes of DMARC and TLS reports from one network. */
export function domainReportBytesTakes(remoteAddress: string, bytes: number): Counted[] {
  const bucket = bucketOf(`domain report bytes\n${networkOf(remoteAddress)}`);
  return [{ bucket, limit: LIMITS.domainReportKilobytes.value, amount: Math.ceil(bytes / 1024) }];
}

/** Returns the limits for stored mail to the instance admin. It is kept for weeks, so one network can't use up the whole day's quota. */
export function operatorBytesTakes(remoteAddress: string, bytes: number): Counted[] {
  const counted = { amount: Math.ceil(bytes / 1024), windowSeconds: DAY_SECONDS };
  const ofNetwork = bucketOf(`operator bytes\n${networkOf(remoteAddress)}`);
  return [
    { ...counted, bucket: ofNetwork, limit: LIMITS.operatorNetworkKilobytes.value },
    { ...counted, bucket: bucketOf("operator bytes"), limit: LIMITS.operatorKilobytes.value },
  ];
}

/**
 * Returns the limits for the stored bytes of messages to a project, first by sender so that one sender blocks no other, and by network
 * because a network can forge senders.
 */
export function inboundBytesTakes(
  address: string,
  { sender, remoteAddress }: { sender: string; remoteAddress: string },
  bytes: number,
): Counted[] {
  const counted = { amount: Math.ceil(bytes / 1024), windowSeconds: DAY_SECONDS };
  const lower = address.toLowerCase();
  return [
    {
      ...counted,
      bucket: bucketOf(`inbound bytes\n${lower}\n${sender.toLowerCase()}`),
      limit: LIMITS.inboundSenderKilobytes.value,
    },
    {
      ...counted,
      bucket: bucketOf(`inbound bytes of network\n${lower}\n${networkOf(remoteAddress)}`),
      limit: LIMITS.inboundNetworkKilobytes.value,
    },
    { ...counted, bucket: bucketOf(`inbound bytes\n${lower}`), limit: LIMITS.inboundKilobytes.value },
  ];
}

/** Returns the limits for messages from people, first by sender so that one sender blocks no other. */
export function writtenTakes(kind: "project" | "operator", address: string, sender: string): Counted[] {
  const lower = address.toLowerCase();
  const most = kind === "operator" ? LIMITS.operatorMessages : LIMITS.inboundMessages;
  return [
    {
      bucket: bucketOf(`${lower}\n${sender.toLowerCase()}`),
      limit: LIMITS.inboundSenderMessages.value,
    },
    { bucket: bucketOf(lower), limit: most.value },
  ];
}

export async function isWithinRates(rateLimiter: RateLimiter, takes: readonly Counted[]): Promise<boolean> {
  for (const take of takes)
    if (!(await rateLimiter.take({ windowSeconds: RATE_WINDOW_SECONDS, ...take })).allowed) return false;
  return true;
}

/** Hashed so that `rate_windows` contains no addresses. */
function bucketOf(text: string): string {
  return `inbound:${createHash("sha256").update(text).digest("base64url")}`;
}
