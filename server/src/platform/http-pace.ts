// Large requests and large answers, paced: a project that moves megabytes goes one request at a time and rests as long as each
// took, so that the thread that serves has time for everybody else. What is small goes at once.
// Before it: http-answer.ts has a request. After it: its parsing, its route, its answer.
import { createTimeSpent } from "./time-spent.ts";
import { createTurns } from "./turns.ts";

/** A body of more bytes is large: it takes milliseconds to read, and more in the database. */
const LARGE_BODY_BYTES = 128 * 1024;
/** An answer of more characters is large; a page of a list has a hundredth of it, as a rule. */
const LARGE_ANSWER_LENGTH = 256 * 1024;
/** What a large answer counts for: so long its project's further lists go one at a time. Forgotten at a tenth of the time that passes. */
const ANSWER_COUNTS_MS = 500;
const TURNS = { atOnce: 4, atOncePerOwner: 1, waitingPerOwner: 200, waiting: 1_000, rests: true };

/** What is known of a request before it is read. */
export interface PacedRequest {
  /** A project, a person or an address. */
  owner: string;
  bodyBytes: number;
  /** Whether its answer may be a list. */
  isList: boolean;
}

export interface Pace {
  /** @throws Refusal RATE_LIMIT_EXCEEDED when too many large ones wait; whatever the work throws. */
  follow<Result>(request: PacedRequest, work: () => Promise<Result>): Promise<Result>;
  /** An answer was so long, characters. */
  note(owner: string, answerLength: number): void;
}

export function createPace(): Pace {
  const turns = createTurns(TURNS);
  const answered = createTimeSpent();
  return {
    follow({ owner, bodyBytes, isList }, work) {
      const isLarge = bodyBytes > LARGE_BODY_BYTES || (isList && answered.of(owner) > 0);
      return isLarge ? turns.take(owner, work) : work();
    },
    note(owner, answerLength) {
      if (answerLength > LARGE_ANSWER_LENGTH) answered.add(owner, ANSWER_COUNTS_MS);
    },
  };
}
