// Holds each click for a second to see whether a person clicked or a scanner followed every link. Clicks on recent emails are held a second
// time, a little longer. The redirect doesn't wait.
import { BURST_MS, SLOW_BURST_MS } from "./machine-rules.ts";

export interface HeldClick {
  /** Identifies the email. */
  mail: string;
  /** Identifies the link within the email. */
  link: string;
  atMs: number;
}

export interface ClickHold<Click extends HeldClick> {
  add(click: Click): void;
  /** Holds a released click again, until all clicks near it have arrived. */
  holdOn(click: Click): void;
  /** Releases all held clicks immediately. */
  flush(): void;
}

/** Beyond this limit the oldest clicks are classified with what is known. */
const HELD_MAX = 20_000;

/** Calls `release` with the time to the nearest click on another link of the email, and whether the click must not be held again. */
export function createClickHold<Click extends HeldClick>(
  release: (click: Click, otherLinkMs: number, isLast: boolean) => void,
  burstMs = BURST_MS,
  slowBurstMs = SLOW_BURST_MS,
): ClickHold<Click> {
  /** Clicks of each email that are held or may still be near a later one. */
  const near = new Map<string, Click[]>();
  const held = new Map<Click, NodeJS.Timeout>();

  function letGo(click: Click, isLast: boolean): void {
    clearTimeout(held.get(click));
    if (!held.delete(click)) return;
    release(click, nearestOther(click, near.get(click.mail) ?? []), isLast);
  }

  function hold(click: Click, forMs: number, isLast: boolean): void {
    const [oldest] = held.keys();
    if (held.size >= HELD_MAX && oldest !== undefined) letGo(oldest, true);
    held.set(
      click,
      setTimeout(() => letGo(click, isLast), forMs),
    );
  }

  function purge(click: Click): void {
    const others = (near.get(click.mail) ?? []).filter((other) => other !== click);
    if (others.length === 0) near.delete(click.mail);
    else near.set(click.mail, others);
  }

  return {
    add(click) {
      near.set(click.mail, [...(near.get(click.mail) ?? []), click]);
      // The latest possible neighbor arrives before the second release.
      setTimeout(() => purge(click), 2 * slowBurstMs).unref();
      hold(click, burstMs, false);
    },
    holdOn: (click) => hold(click, slowBurstMs - burstMs, true),
    flush() {
      for (const click of held.keys()) letGo(click, true);
    },
  };
}

/** Returns the time to the nearest click on another link of the email, or infinity without one. */
function nearestOther(click: HeldClick, others: readonly HeldClick[]): number {
  const distances = others
    .filter((other) => other.link !== click.link)
    .map((other) => Math.abs(other.atMs - click.atMs));
  return Math.min(Number.POSITIVE_INFINITY, ...distances);
}
