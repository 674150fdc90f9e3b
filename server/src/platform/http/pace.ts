// Paces large requests and responses, so that a project that moves megabytes runs one of them at a time and pauses after each while others
// use the server.
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
};
/** An owner pauses for others if one of them made a request this recently. An owner alone on the machine runs at full speed. */
const COMPANY_MS = 3_000;

/** The facts about a request before its body is parsed. */
export interface PacedRequest {
  /** The project, user or network. */
  owner: string;
  bodyBytes: number;
  /** Whether the response may be a list. */
  isList: boolean;
  /** Called if the request is large and therefore waits for its turn. The returned function is called when its turn has come. */
  onWait: () => () => void;
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

/** Creates a pace. @param nowMs a monotonic clock */
export function createPace(nowMs: () => number = () => performance.now()): Pace {
  const company = watchCompany(nowMs);
  const large = createFairQueue({ ...LARGE_REQUESTS, rests: company.isPresent }, nowMs);
  return {
    follow({ owner, bodyBytes, isList, onWait }, work) {
      company.note(owner);
      const isLarge = bodyBytes > LARGE_BODY_BYTES || (isList && large.usedMs(owner) > 0);
      if (!isLarge) return work();
      const onTurn = onWait();
      return large.run({ owner }, () => {
        onTurn();
        return work();
      });
    },
    note(owner, responseLength) {
      if (responseLength > LARGE_RESPONSE_LENGTH) large.charge(owner, RESPONSE_COSTS_MS);
    },
  };
}

/** Remembers who made requests, so that an owner can find out whether others use the server too. */
function watchCompany(nowMs: () => number) {
  let latest = { owner: "", atMs: -Infinity };
  /** The latest request by anyone but the owner of `latest`. */
  let other = latest;
  return {
    note(owner: string): void {
      if (owner !== latest.owner) other = latest;
      latest = { owner, atMs: nowMs() };
    },
    isPresent: (owner: string): boolean =>
      nowMs() - (owner === latest.owner ? other : latest).atMs < COMPANY_MS,
  };
}
