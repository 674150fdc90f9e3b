// Paces large requests and responses, so that a project that moves megabytes runs one of them at a time and pauses after each.
import { createFairQueue } from "../background/fair-queue.ts";

/** In bytes. A larger body takes milliseconds to parse, and more in the database. */
const LARGE_BODY_BYTES = 128 * 1024;
/** In characters. A page of a list usually has a hundredth of this. */
const LARGE_RESPONSE_LENGTH = 256 * 1024;
/** The cost of a large response. Until it is forgotten, further lists of the owner run one at a time. */
const RESPONSE_COSTS_MS = 500;
const LARGE_REQUESTS = {
  atOnce: 4,
  atOncePerOwner: 1,
  waitingPerOwner: 200,
  waiting: 1_000,
  rests: true,
};

/** The facts about a request before its body is parsed. */
export interface PacedRequest {
  /** The project, user or network. */
  owner: string;
  bodyBytes: number;
  /** Whether the response may be a list. */
  isList: boolean;
}

export interface Pace {
  /**
   * Runs the work, in turn if it is large. @throws AppError RATE_LIMIT_EXCEEDED if too many large requests of the owner wait, and any error
   * of the work
   */
  follow<Result>(request: PacedRequest, work: () => Promise<Result>): Promise<Result>;
  /** Records the length of a response, in characters. */
  note(owner: string, responseLength: number): void;
}

export function createPace(): Pace {
  const large = createFairQueue(LARGE_REQUESTS);
  return {
    follow({ owner, bodyBytes, isList }, work) {
      const isLarge = bodyBytes > LARGE_BODY_BYTES || (isList && large.usedMs(owner) > 0);
      return isLarge ? large.run({ owner }, work) : work();
    },
    note(owner, responseLength) {
      if (responseLength > LARGE_RESPONSE_LENGTH) large.charge(owner, RESPONSE_COSTS_MS);
    },
  };
}
