// Submits finished messages to Amazon SES unchanged (SESv2 SendEmail, raw), with one HTTP request each.
import type { LookupFunction } from "node:net";
import { SendEmailCommand, SESv2Client, SESv2ServiceException } from "@aws-sdk/client-sesv2";
import { sesRowOf } from "./replies/replies.ts";
import {
  createSesConnections,
  DEFAULT_SES_TIMEOUTS,
  type HttpResponse,
  type Progress,
  type SesConnections,
  type SesTimeouts,
  type SignedRequest,
} from "./ses-connections.ts";
import { reachSes } from "./ses-reach.ts";
import { EMAIL_TAG, PROJECT_TAG } from "./ses-tags.ts";
import { PROJECT_IN_TENANT, type SesServer } from "./ses-url.ts";
import { toPrintableLine } from "./smtp-replies.ts";
import {
  REWRITTEN_BY_SES,
  rejectionOutcome,
  type MayLeave,
  type Outcome,
  type OutgoingMessage,
  type Transport,
} from "./transport.ts";

export interface SesOptions {
  /** From `parseSesUrl`. */
  url: SesServer;
  accessKeyId: string;
  secretAccessKey: string;
  timeouts?: Partial<SesTimeouts>;
  /** `ca`: PEM certificates to trust instead of the system's. */
  tls?: { ca?: string };
  /** Resolves the host, by default with the operating system. */
  lookup?: LookupFunction;
}

const DEFAULT_CONNECTIONS = 10;
const ENDING = "this process is ending";
/** SES writes Feedback-ID itself and takes the first two parts from these tags (docs/decisions/0014-mail-through-ses.md). */
const STREAM_TAGS = ["ses:feedback-id-a", "ses:feedback-id-b"];

/**
 * Creates a transport for the HTTP API of Amazon SES.
 * Every response becomes an `Outcome`; `send` throws only errors of the pre-send check. The SDK builds, signs and parses requests but never
 * retries.
 */
export function createSesTransport(options: SesOptions): Transport {
  const client = createClient(options);
  const timeouts = { ...DEFAULT_SES_TIMEOUTS, ...options.timeouts };
  const network = { ...options.tls, ...(options.lookup === undefined ? {} : { lookup: options.lookup }) };
  const connections = createSesConnections({
    maxConnections: options.url.connections ?? DEFAULT_CONNECTIONS,
    timeouts,
    ...network,
  });
  const inFlight = new Set<Promise<Outcome>>();
  let closing: Promise<void> | undefined;

  async function sendOne(message: OutgoingMessage, mayLeave: MayLeave): Promise<Outcome> {
    if (closing !== undefined) return { kind: "deferred", answer: `CONNECT: ${ENDING}` };
    const progress: Progress = { requestWritten: false, checkSaidNo: false };
    const command = toCommand(message, options.url);
    sendThrough(connections, command, mayLeave, progress);
    try {
      const { MessageId } = await client.send(command);
      if (MessageId === undefined) return { kind: "uncertain", answer: "200 without a message id" };
      return { kind: "sent", answer: "200", providerMessageId: toPrintableLine(MessageId) };
    } catch (error) {
      if (progress.checkFailure !== undefined) throw progress.checkFailure.error;
      return classifyFailure(error, progress);
    }
  }

  async function end(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise((resolve) => (timer = setTimeout(resolve, timeouts.closeMs)));
    await Promise.race([Promise.allSettled(inFlight), deadline]);
    clearTimeout(timer);
    connections.end(ENDING);
    client.destroy();
  }

  return {
    name: "ses",
    rewrites: REWRITTEN_BY_SES,
    send(message, mayLeave) {
      const sending = sendOne(message, mayLeave).finally(() => inFlight.delete(sending));
      inFlight.add(sending);
      return sending;
    },
    reach: () => reachSes(endpointOf(options.url), timeouts.connectMs, network),
    close() {
      closing ??= end();
      return closing;
    },
  };
}

function endpointOf({ endpoint, region }: SesServer): string {
  return endpoint ?? `https://email.${region}.amazonaws.com`;
}

/** Creates the SDK client with explicit options, so that AWS variables and profiles on this machine have no effect. */
function createClient({ url, accessKeyId, secretAccessKey }: SesOptions): SESv2Client {
  return new SESv2Client({
    region: url.region,
    endpoint: endpointOf(url),
    credentials: { accessKeyId, secretAccessKey },
    maxAttempts: 1,
    retryMode: "standard",
    defaultsMode: "standard",
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    authSchemePreference: ["sigv4"],
    userAgentAppId: "postloft",
  });
}

/**
 * Builds the SendEmail command. With `Destination` SES delivers to exactly these recipients, and Bcc needs no header.
 * `FromEmailAddress` is omitted because SES would overwrite the From header with it and lose the sender's name (laravel/framework#37881,
 * aws/aws-sdk-rails#97). SES takes the sender from that header.
 */
function toCommand(message: OutgoingMessage, url: SesServer): SendEmailCommand {
  const { envelope, raw, emailId, projectId, streams = [] } = message;
  const streamTags = STREAM_TAGS.flatMap((Name, at) => {
    const Value = streams[at];
    return Value === undefined ? [] : [{ Name, Value }];
  });
  return new SendEmailCommand({
    Content: { Raw: { Data: raw } },
    Destination: { ToAddresses: [...envelope.to] },
    FeedbackForwardingEmailAddress: message.feedbackTo ?? envelope.from,
    // Tags set here take precedence over an X-SES-MESSAGE-TAGS header in the message.
    EmailTags: [{ Name: EMAIL_TAG, Value: emailId }, { Name: PROJECT_TAG, Value: projectId }, ...streamTags],
    ...(url.configurationSet === undefined ? {} : { ConfigurationSetName: url.configurationSet }),
    ...(url.tenant === undefined ? {} : { TenantName: tenantOf(url.tenant, projectId) }),
  });
}

/** Returns the name of the tenant, which may contain the project's id. */
const tenantOf = (name: string, projectId: string): string => name.replaceAll(PROJECT_IN_TENANT, projectId);

/** Replaces the SDK's network layer, which runs after signing. */
function sendThrough(
  connections: SesConnections,
  command: SendEmailCommand,
  mayLeave: MayLeave,
  progress: Progress,
): void {
  command.middlewareStack.add(
    () =>
      async ({ request }): Promise<{ response: HttpResponse }> => {
        if (!isSignedRequest(request)) throw new Error("the SDK made a request in an unknown format");
        return { response: await connections.post(request, mayLeave, progress) };
      },
    { step: "deserialize", priority: "low", name: "postloftHandover" },
  );
}

function isSignedRequest(request: unknown): request is SignedRequest {
  if (typeof request !== "object" || request === null) return false;
  const read = (name: string): unknown => Reflect.get(request, name);
  return (
    ["protocol", "hostname", "method", "path"].every((name) => typeof read(name) === "string") &&
    typeof read("headers") === "object" &&
    (typeof read("body") === "string" || read("body") instanceof Uint8Array)
  );
}

/** Returns the outcome of a request without a message id, based on its progress and the response. */
function classifyFailure(error: unknown, progress: Progress): Outcome {
  if (progress.checkSaidNo) return { kind: "withdrawn" };
  const text = error instanceof Error ? error.message : String(error);
  if (!progress.requestWritten)
    return { kind: "deferred", answer: toPrintableLine(`CONNECT: ${text}`), outage: true };
  const { status } = progress;
  if (status === undefined) return { kind: "uncertain", answer: toPrintableLine(`ANSWER: ${text}`) };
  const named = error instanceof SESv2ServiceException && error.name !== "Unknown" ? error.name : "";
  const answer = toPrintableLine(`${status} ${named === "" ? "" : `${named}: `}${text}`);
  const { meaning } = sesRowOf(status, named);
  // Everything SES rejects for now is about the account, so another transport may accept the message.
  return meaning === "uncertain" ? { kind: meaning, answer } : rejectionOutcome(meaning, answer, true);
}
