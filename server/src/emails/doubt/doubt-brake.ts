// Slows down campaigns that get no reply to their submissions. After the first one it sends one canary at a time until a server replies,
// and pauses the campaign after several canaries without a reply. There is one brake per sending process.
import type { Log } from "../../platform/log.ts";
import type { Outcome } from "../../transports/transport.ts";
import type { ClaimedRow } from "../rows/claimed-queries.ts";

type BrakedMail = Pick<ClaimedRow, "id" | "projectId" | "campaignId">;

/** Pauses a campaign after `probes` submissions in a row got no reply. `answer` describes the last one. */
export type PauseInDoubt = (campaign: {
  projectId: string;
  campaignId: string;
  probes: number;
  answer: string;
}) => Promise<void>;

export interface DoubtBrake {
  /**
   * Returns whether an email may continue to its final dot. Waits while another email of its campaign is the canary, and returns false
   * after a timeout.
   */
  pass(mail: BrakedMail): Promise<boolean>;
  /** Reports the outcome of a submission. Resolves after the campaign is paused, if it must be. Never rejects. */
  notify(mail: BrakedMail, outcome: Outcome): Promise<void>;
}

interface Doubt {
  /** The canary, which tests whether the server replies again. */
  probe: string | null;
  unanswered: number;
  waiting: Array<() => void>;
}

/** Canaries in a row without a reply before the campaign is paused. Only these and the emails already in flight can end in doubt. */
export const CANARIES = 5;
/** A waiting email holds a connection that other emails could use. */
const MAX_WAIT_MS = 10_000;
/** Limits the entries left behind by campaigns that ended while in doubt. */
const MAX_DOUBTS = 1_000;

// oxlint-disable-next-line max-lines-per-function -- the inner functions share its state
export function createDoubtBrake({
  pause,
  log,
  maxWaitMs = MAX_WAIT_MS,
}: {
  pause: PauseInDoubt;
  log: Log;
  maxWaitMs?: number;
}): DoubtBrake {
  const doubts = new Map<string, Doubt>();

  function begin(campaignId: string): void {
    const [oldest] = doubts.keys();
    if (doubts.size >= MAX_DOUBTS && oldest !== undefined) end(oldest);
    doubts.set(campaignId, { probe: null, unanswered: 0, waiting: [] });
  }

  function end(campaignId: string): void {
    const waiting = doubts.get(campaignId)?.waiting ?? [];
    doubts.delete(campaignId);
    for (const look of waiting) look();
  }

  /** Resolves when the doubt ends, when the next canary may be sent, or after a timeout. */
  function waitFor(doubt: Doubt): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        clearTimeout(timer);
        doubt.waiting = doubt.waiting.filter((other) => other !== look);
        resolve();
      };
      const timer = setTimeout(look, maxWaitMs);
      doubt.waiting.push(look);
    });
  }

  async function pauseCampaign(mail: BrakedMail, campaignId: string, answer: string): Promise<boolean> {
    try {
      await pause({ projectId: mail.projectId, campaignId, probes: CANARIES, answer });
      return true;
    } catch (error) {
      log.warn(
        { err: error, campaignId },
        "failed to pause a campaign with emails in doubt, the next email retries",
      );
      return false;
    }
  }

  return {
    async pass({ id, campaignId }) {
      if (campaignId === null) return true;
      const untilMs = performance.now() + maxWaitMs;
      for (let doubt; (doubt = doubts.get(campaignId)) !== undefined;) {
        doubt.probe ??= id;
        if (doubt.probe === id) return true;
        if (performance.now() >= untilMs) return false;
        await waitFor(doubt);
      }
      return true;
    },
    async notify(mail, outcome) {
      const { id, campaignId } = mail;
      if (campaignId === null) return;
      const doubt = doubts.get(campaignId);
      if (doubt === undefined) {
        if (outcome.kind === "uncertain") begin(campaignId);
        return;
      }
      // Emails that were already in flight add no information.
      if (doubt.probe !== id) return;
      if (isReply(outcome)) return end(campaignId);
      if (outcome.kind === "uncertain") doubt.unanswered++;
      if (doubt.unanswered >= CANARIES) {
        const reply = "answer" in outcome ? outcome.answer : "";
        if (await pauseCampaign(mail, campaignId, reply)) return end(campaignId);
      }
      doubt.probe = null;
      doubt.waiting[0]?.();
    },
  };
}

/** Returns whether the server accepted, rejected or deferred the email itself. */
function isReply(outcome: Outcome): boolean {
  return (
    outcome.kind === "sent" ||
    outcome.kind === "rejected" ||
    (outcome.kind === "deferred" && outcome.outage !== true)
  );
}
