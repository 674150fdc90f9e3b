// Fetches, verifies and caches the certificates that Amazon SNS signs with.
import { X509Certificate, type KeyObject } from "node:crypto";
import { LRUCache } from "lru-cache";
import { nowMs } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { AppError } from "../platform/app-error.ts";
import { UnexpectedStatus, type FetchText } from "./sns-requests.ts";

export interface SnsKeys {
  /**
   * Returns the key of a certificate, or null if it is not from SNS or not valid now.
   * @throws AppError SERVICE_UNAVAILABLE if it cannot be fetched
   */
  find(url: string): Promise<KeyObject | null>;
}

interface Certificate {
  key: KeyObject;
  validFromMs: number;
  validToMs: number;
}

/** SNS has one or two per region at a time. */
const MAX_KEPT = 50;
const KEPT_MS = 24 * 3_600_000;
/** Invalid certificates are cached too, so that strangers can't make us fetch them repeatedly. */
const REFUSED_KEPT_MS = 60_000;
/** Limits the fetches caused by made-up certificate addresses. */
const MAX_FETCHES_A_MINUTE = 30;
const MINUTE_MS = 60_000;
const MIN_KEY_BITS = 2_048;
/** SNS certificates are issued for names such as sns.amazonaws.com. */
const NAME = /(?:DNS:|CN=)(?:[a-z0-9-]+\.)*amazonaws\.com(?:\.cn)?(?:$|,|\n)/im;

export function createSnsKeys(fetchText: FetchText, log: Log): SnsKeys {
  const kept = new LRUCache<string, { certificate: Certificate | null }>({ max: MAX_KEPT, ttl: KEPT_MS });
  const fetching = new Map<string, Promise<Certificate | null>>();
  let minute = 0;
  let fetches = 0;

  async function fetchOne(url: string): Promise<Certificate | null> {
    const now = Math.floor(nowMs() / MINUTE_MS);
    if (now !== minute) [minute, fetches] = [now, 0];
    if (++fetches > MAX_FETCHES_A_MINUTE) throw new Error("too many certificate requests in a minute");
    const pem = await fetchText(url).catch((error: unknown) => {
      // Responses such as "not found" or a redirect are final; 429 and 5xx are not.
      if (error instanceof UnexpectedStatus && error.status < 500 && error.status !== 429) return "";
      throw error;
    });
    const certificate = readCertificate(pem);
    kept.set(url, { certificate }, certificate === null ? { ttl: REFUSED_KEPT_MS } : {});
    return certificate;
  }

  /** Concurrent callers share one request. */
  async function load(url: string): Promise<Certificate | null> {
    const known = kept.get(url);
    if (known !== undefined) return known.certificate;
    const running = fetching.get(url) ?? fetchOne(url).finally(() => fetching.delete(url));
    fetching.set(url, running);
    return running;
  }

  return {
    async find(url) {
      const certificate = await load(url).catch((error: unknown) => {
        log.warn({ err: error, url }, "failed to fetch an SNS certificate, SNS will retry");
        throw new AppError("SERVICE_UNAVAILABLE", { retryAfterSeconds: 20 });
      });
      const now = nowMs();
      const isValid = certificate !== null && certificate.validFromMs <= now && now <= certificate.validToMs;
      return isValid ? certificate.key : null;
    },
  };
}

/**
 * Returns the first certificate of a PEM text if it can belong to SNS. There is no chain to verify, because the TLS certificate of the host
 * proved its origin.
 */
function readCertificate(pem: string): Certificate | null {
  try {
    const certificate = new X509Certificate(pem);
    const { publicKey: key, validFromDate, validToDate, ca, subject, subjectAltName } = certificate;
    const bits = key.asymmetricKeyType === "rsa" ? (key.asymmetricKeyDetails?.modulusLength ?? 0) : 0;
    const isOfSns = !ca && bits >= MIN_KEY_BITS && NAME.test(`${subject}\n${subjectAltName ?? ""}`);
    return isOfSns ? { key, validFromMs: validFromDate.getTime(), validToMs: validToDate.getTime() } : null;
  } catch {
    // Not a certificate at all.
    return null;
  }
}
