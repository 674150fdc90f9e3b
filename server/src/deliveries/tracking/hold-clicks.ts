// Holds each click until the second around it is over: only then is it known whether somebody follows links or something follows all of
// them. Clicks on a young mail are held a second time, a little longer. The redirect does not wait for it.
import { BURST_MS, SLOW_BURST_MS } from "./machine-rules.ts";

export interface HeldClick {
  /** Of the mail. */
  mail: string;
  /** Of the link within it. */
  link: string;
  atMs: number;
}

export interface ClickHold<Click extends HeldClick> {
  add(click: Click): void;
  /** Holds one that was let go once more, until all that could come beside it has come. */
  holdOn(click: Click): void;
  /** Lets go of all that are held, as they are. */
  flush(): void;
}

/** More are not held; then the oldest are judged by what is known. */
const HELD_MAX = 20_000;

/** `release` gets how far in time the nearest click on another link of the mail is, and whether the click may not be held on. */
export function createClickHold<Click extends HeldClick>(
  release: (click: Click, otherLinkMs: number, isLast: boolean) => void,
  burstMs = BURST_MS,
  slowBurstMs = SLOW_BURST_MS,
): ClickHold<Click> {
  /** Of each mail the clicks that are held, and those that one still to come may stand beside. */
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

  function forget(click: Click): void {
    const others = (near.get(click.mail) ?? []).filter((other) => other !== click);
    if (others.length === 0) near.delete(click.mail);
    else near.set(click.mail, others);
  }

  return {
    add(click) {
      near.set(click.mail, [...(near.get(click.mail) ?? []), click]);
      // One as late as may be stands beside it until it is let go a second time.
      setTimeout(() => forget(click), 2 * slowBurstMs).unref();
      hold(click, burstMs, false);
    },
    holdOn: (click) => hold(click, slowBurstMs - burstMs, true),
    flush() {
      for (const click of held.keys()) letGo(click, true);
    },
  };
}

/** How far in time the nearest click on another link of the mail is; infinite when there is none. */
function nearestOther(click: HeldClick, others: readonly HeldClick[]): number {
  const distances = others
    .filter((other) => other.link !== click.link)
    .map((other) => Math.abs(other.atMs - click.atMs));
  return Math.min(Number.POSITIVE_INFINITY, ...distances);
}
