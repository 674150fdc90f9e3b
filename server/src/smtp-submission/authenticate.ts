// Signs SMTP clients in with the keys of POST /v1/send, and checks the key again for every message.
import { send } from "@postloft/contract/v1.ts";
import { TEST_SCOPE } from "@postloft/contract/scopes.ts";
import type { Database } from "../platform/database/database.ts";
import { countFailure, countOfProject, type RateOptions } from "../platform/http/admission.ts";
import { checkRights, identify, type Credentials } from "../platform/http/caller.ts";
import { isProjectCalled } from "../projects/projects.ts";
import { replyTo, SmtpReply } from "./replies.ts";

export interface AuthenticationOptions extends RateOptions {
  database: Database;
  credentials: Credentials;
}

/** The credentials of a client. */
export interface SignIn {
  /** The id or the exact name of the project. */
  user: string;
  key: string;
  ip: string;
}

/** A client that may send. */
export interface Submitter {
  projectId: string;
  /** Whether the emails stay in the local mailbox. */
  isTest: boolean;
}

const WRONG_KEY = 535;
const NOT_SECRET = new SmtpReply(WRONG_KEY, "5.7.8 The password must be a secret key (sk_...).");
const WRONG_USER = new SmtpReply(
  WRONG_KEY,
  "5.7.8 The user name must be the id or the exact name of the project that the key belongs to.",
);
const SECRET_KEY = /^sk_[A-Za-z0-9_-]{1,200}$/;

/**
 * Returns the project of a client. Wrong keys count by network, like those of HTTP requests.
 * @throws AppError INVALID_API_KEY, FORBIDDEN, PROJECT_DISABLED
 * @throws SmtpReply about the user or the key, or 421 after too many wrong keys
 */
export async function authenticate(options: AuthenticationOptions, signIn: SignIn): Promise<Submitter> {
  try {
    const submitter = await findSubmitter(options, signIn);
    if (!(await isProjectCalled(options.database, submitter.projectId, signIn.user))) throw WRONG_USER;
    return submitter;
  } catch (error) {
    if (replyTo(error).responseCode === WRONG_KEY) await countWrongKey(options, signIn.ip);
    throw error;
  }
}

/** @throws SmtpReply that ends the connection, so that the next guess needs a new one */
async function countWrongKey(options: AuthenticationOptions, ip: string): Promise<void> {
  try {
    await countFailure(options, ip);
  } catch (error) {
    throw new SmtpReply(421, replyTo(error).message);
  }
}

/**
 * Admits one message. The key may have been revoked since the client signed in, and always belongs to the same project.
 * @throws AppError and SmtpReply like `authenticate`, RATE_LIMIT_EXCEEDED
 */
export async function admitMessage(options: AuthenticationOptions, signIn: SignIn): Promise<Submitter> {
  const submitter = await findSubmitter(options, signIn);
  await countOfProject(options, submitter.projectId);
  return submitter;
}

async function findSubmitter(
  { credentials }: AuthenticationOptions,
  { key, ip }: SignIn,
): Promise<Submitter> {
  if (!SECRET_KEY.test(key)) throw NOT_SECRET;
  const input = {
    authorization: `Bearer ${key}`,
    cookie: undefined,
    projectHeader: undefined,
    pathProject: undefined,
    ip,
  };
  const caller = await identify(send.caller, input, credentials);
  const { projectId, scopes } = caller;
  if (projectId === null) throw WRONG_USER;
  checkRights(send, caller);
  return { projectId, isTest: scopes?.includes(TEST_SCOPE) === true };
}
