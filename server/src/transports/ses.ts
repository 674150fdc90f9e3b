// Hands finished messages to Amazon SES as they are (SESv2 SendEmail, raw), one HTTP request each.
import { SendEmailCommand, SESv2Client, SESv2ServiceException } from "@aws-sdk/client-sesv2";
import { sesRowOf } from "./answers/answers.ts";
import {
  createSesConnections,
  DEFAULT_SES_TIMEOUTS,
  type HttpAnswer,
  type Progress,
  type SesConnections,
  type SesTimeouts,
  type SignedRequest,
} from "./ses-connections.ts";
import { reachSes } from "./ses-reach.ts";
import { EMAIL_TAG, PROJECT_TAG } from "./ses-tags.ts";
import type { SesServer } from "./ses-url.ts";
import { toPrintableLine } from "./smtp-replies.ts";
import {
  REWRITTEN_BY_SES,
  refusalOutcome,
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
}

const DEFAULT_CONNECTIONS = 10;
const ENDING = "this process is ending";
/** SES writes Feedback-ID itself and takes its first two parts from these tags (docs/decisions/0014-mail-through-ses.md). */
const STREAM_TAGS = ["ses:feedback-id-a", "ses:feedback-id-b"];

/**
 * A transport that speaks the HTTP API of Amazon SES. Every answer becomes an `Outcome`; `send` throws only what the
 * handover check throws. The SDK writes, signs and reads; it never tries again by itself.
 */
export function createSesTransport(options: SesOptions): Transport {
  const client = createClient(options);
  const timeouts = { ...DEFAULT_SES_TIMEOUTS, ...options.timeouts };
  const connections = createSesConnections({
    maxConnections: options.url.connections ?? DEFAULT_CONNECTIONS,
    timeouts,
    ...options.tls,
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
      return judgeFailure(error, progress);
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
    reach: () => reachSes(endpointOf(options.url), timeouts.connectMs, options.tls?.ca),
    close() {
      closing ??= end();
      return closing;
    },
  };
}

function endpointOf({ endpoint, region }: SesServer): string {
  return endpoint ?? `https://email.${region}.amazonaws.com`;
}

/** All is said here, so that variables and profiles of the AWS tools on this machine change nothing. */
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
 * The envelope goes beside the message, so that its headers stay as they are: with `Destination` SES delivers to exactly
 * these, and Bcc needs no header. `FromEmailAddress` is left out on purpose: SES writes it over the From header and
 * the sender's name is gone (laravel/framework#37881, aws/aws-sdk-rails#97). SES takes the sender from that header.
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
    // Said here they also win over an X-SES-MESSAGE-TAGS header that somebody put into the mail.
    EmailTags: [{ Name: EMAIL_TAG, Value: emailId }, { Name: PROJECT_TAG, Value: projectId }, ...streamTags],
    ...(url.configurationSet === undefined ? {} : { ConfigurationSetName: url.configurationSet }),
  });
}

/** Takes the place of the SDK's own way to the network, behind everything that signs. */
function sendThrough(
  connections: SesConnections,
  command: SendEmailCommand,
  mayLeave: MayLeave,
  progress: Progress,
): void {
  command.middlewareStack.add(
    () =>
      async ({ request }): Promise<{ response: HttpAnswer }> => {
        if (!isSignedRequest(request)) throw new Error("the SDK made a request of an unknown form");
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

/** What it means that there was no message id, by how far the request got and what the answer says. */
function judgeFailure(error: unknown, progress: Progress): Outcome {
  if (progress.checkSaidNo) return { kind: "withdrawn" };
  const text = error instanceof Error ? error.message : String(error);
  if (!progress.requestWritten)
    return { kind: "deferred", answer: toPrintableLine(`CONNECT: ${text}`), outage: true };
  const { status } = progress;
  if (status === undefined) return { kind: "uncertain", answer: toPrintableLine(`ANSWER: ${text}`) };
  const named = error instanceof SESv2ServiceException && error.name !== "Unknown" ? error.name : "";
  const answer = toPrintableLine(`${status} ${named === "" ? "" : `${named}: `}${text}`);
  const { meaning } = sesRowOf(status, named);
  // Whatever SES does not want now is about the account: another transport may take it.
  return meaning === "uncertain" ? { kind: meaning, answer } : refusalOutcome(meaning, answer, true);
}
