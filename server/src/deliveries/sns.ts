// Endpoint for Amazon SNS notifications, which verifies the sender before storing anything. Every error is the same 403.
import { verify } from "node:crypto";
import { readClock } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import type { Log } from "../platform/log.ts";
import { AppError } from "../platform/app-error.ts";
import { isFresh, type NoticeStore } from "./notices.ts";
import { readSesEvent } from "./ses-events.ts";
import type { SnsKeys } from "./sns-keys.ts";
import {
  confirmationUrl,
  digestOf,
  hostOf,
  isCertificateUrl,
  isConfirmation,
  signedText,
  type SnsMessage,
} from "./sns-message.ts";
import type { FetchText } from "./sns-requests.ts";

export interface SnsEndpointOptions {
  database: Database;
  notices: NoticeStore;
  /** ARNs of the accepted topics. */
  topics: readonly string[];
  keys: SnsKeys;
  fetchText: FetchText;
  log: Log;
}

export interface SnsEndpoint {
  /**
   * Stores a notification or confirms a subscription. Resolves when that is committed.
   * @throws AppError FORBIDDEN; INVALID_REQUEST_BODY for a notification without a JSON object; SERVICE_UNAVAILABLE
   */
  receive(message: SnsMessage): Promise<void>;
}

/** SES sends this when a topic is connected to a configuration set. */
const CONNECTED = /^Successfully validated SNS topic/;
/** Each reason is logged at most this often, because strangers can send any number of requests. */
const LOG_PAUSE_MS = 60_000;

// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createSnsEndpoint(options: SnsEndpointOptions): SnsEndpoint {
  const { database, notices, keys, fetchText, log } = options;
  const topics = new Set(options.topics);
  const reported = new Map<string, number>();

  function refuse(reason: string, { TopicArn, Type }: SnsMessage): AppError {
    const last = reported.get(reason) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - last >= LOG_PAUSE_MS) {
      reported.set(reason, performance.now());
      log.warn(
        { topic: TopicArn.slice(0, 300), type: Type.slice(0, 50) },
        `SNS notification rejected: ${reason}`,
      );
    }
    return new AppError("FORBIDDEN", { message: "This notification was rejected." });
  }

  /**
   * Verifies that one of our topics sent the message. Makes no network request before all other checks pass.
   * @throws AppError FORBIDDEN
   */
  async function prove(message: SnsMessage): Promise<string> {
    const { TopicArn, SigningCertURL, Signature } = message;
    if (topics.size === 0) throw refuse("the setting SNS_TOPIC_ARNS is empty", message);
    if (!topics.has(TopicArn)) throw refuse("its topic is not in SNS_TOPIC_ARNS", message);
    const host = hostOf(TopicArn);
    if (host === null) throw refuse("its topic is in an unknown region", message);
    const digest = digestOf(message);
    if (digest === null) throw refuse("its signature version is unknown", message);
    if (SigningCertURL === undefined || !isCertificateUrl(SigningCertURL, host))
      throw refuse("its certificate URL does not belong to SNS", message);
    if (Signature === undefined || !/^[A-Za-z0-9+/]{100,1400}={0,2}$/.test(Signature))
      throw refuse("it is not signed", message);
    const confirmed = message.Type !== "SubscriptionConfirmation" || confirmationUrl(message, host) !== null;
    if (!confirmed) throw refuse("its confirmation URL does not belong to SNS", message);
    const key = await keys.find(SigningCertURL);
    if (key === null) throw refuse("its certificate does not belong to SNS or is not valid now", message);
    const isSigned = verify(digest, Buffer.from(signedText(message)), key, Buffer.from(Signature, "base64"));
    if (!isSigned) throw refuse("its signature is invalid", message);
    return host;
  }

  async function keep(message: SnsMessage): Promise<void> {
    const event = readSesEvent(message.Message);
    if (event === null && CONNECTED.test(message.Message)) {
      log.info({ topic: message.TopicArn }, "Amazon SES connected to the SNS topic");
      return;
    }
    if (event === null)
      throw new AppError("INVALID_REQUEST_BODY", {
        message: "The message of the notification is not a JSON object.",
      });
    const stored = await notices.store({
      source: "sns",
      providerId: event.key ?? message.MessageId,
      raw: Buffer.from(message.Message),
      sender: null,
      recipient: null,
      toldAt: new Date(message.Timestamp),
    });
    if (stored === "stale") throw refuse("it is too old or from the future", message);
  }

  async function confirm(message: SnsMessage, host: string): Promise<void> {
    if (!isFresh(new Date(message.Timestamp), await readClock(database)))
      throw refuse("it is too old or from the future", message);
    if (message.Type !== "SubscriptionConfirmation") {
      log.warn({ topic: message.TopicArn }, "Postloft was unsubscribed from the SNS topic");
      return;
    }
    await fetchText(confirmationUrl(message, host) ?? "").catch((error: unknown) => {
      log.warn(
        { err: error, topic: message.TopicArn },
        "failed to confirm an SNS subscription, SNS will retry",
      );
      throw new AppError("SERVICE_UNAVAILABLE", { retryAfterSeconds: 20 });
    });
    log.info({ topic: message.TopicArn }, "SNS subscription confirmed");
  }

  return {
    async receive(message) {
      const host = await prove(message);
      if (isConfirmation(message)) await confirm(message, host);
      else if (message.Type === "Notification") await keep(message);
      else throw refuse("its type is unknown", message);
    },
  };
}
