// Paces large requests and large responses: a project that moves megabytes has one such request in progress and pauses after it.
import { createFairQueue } from "../background/fair-queue.ts";

/** A larger body takes milliseconds to parse, and more in the database, bytes. */
const LARGE_BODY_BYTES = 128 * 1024;
/** A page of a list usually has a hundredth of this, characters. */
const LARGE_RESPONSE_LENGTH = 256 * 1024;
/** What a large response is charged: until it is forgotten, further lists of its owner run one at a time. */
const RESPONSE_COSTS_MS = 500;
const LARGE_REQUESTS = {
  atOnce: 4,
  atOncePerOwner: 1,
  waitingPerOwner: 200,
  waiting: 1_000,
  rests: true,
};

/** What is known of a request before its body is parsed. */
export interface PacedRequest {
  /** A project, a person or a network. */
  owner: string;
  bodyBytes: number;
  /** Whether its response may be a list. */
  isList: boolean;
}

export interface Pace {
  /** @throws Refusal RATE_LIMIT_EXCEEDED when too many large requests of the owner wait; whatever the work throws. */
  follow<Result>(request: PacedRequest, work: () => Promise<Result>): Promise<Result>;
  /** Records the length of a response, characters. */
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
