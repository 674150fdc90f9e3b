// Holds each click until the second around it is over: only then is it known whether somebody follows links or something
// follows all of them. The redirect does not wait for it.
// Before it: activity.ts. After it: the same, with what was seen.
import { BURST_MS } from "./machine-rules.ts";

export interface HeldClick {
  /** Of the mail. */
  mail: string;
  /** Of the link within it. */
  link: string;
  atMs: number;
}

export interface ClickHold<Click extends HeldClick> {
  add(click: Click): void;
  /** Lets go of all that are held, as they are. */
  flush(): void;
}

/** More are not held; then the oldest are judged by what is known. */
const HELD_MAX = 20_000;

export function createClickHold<Click extends HeldClick>(
  release: (click: Click, isInBurst: boolean) => void,
  burstMs = BURST_MS,
): ClickHold<Click> {
  /** Of each mail the clicks that are held, and those of the second before. */
  const near = new Map<string, Click[]>();
  const held = new Map<Click, NodeJS.Timeout>();

  function letGo(click: Click): void {
    clearTimeout(held.get(click));
    if (!held.delete(click)) return;
    release(click, isInBurst(click, near.get(click.mail) ?? [], burstMs));
    setTimeout(() => forget(click), burstMs).unref();
  }

  function forget(click: Click): void {
    const others = (near.get(click.mail) ?? []).filter((other) => other !== click);
    if (others.length === 0) near.delete(click.mail);
    else near.set(click.mail, others);
  }

  return {
    add(click) {
      const [oldest] = held.keys();
      if (held.size >= HELD_MAX && oldest !== undefined) letGo(oldest);
      near.set(click.mail, [...(near.get(click.mail) ?? []), click]);
      held.set(
        click,
        setTimeout(() => letGo(click), burstMs),
      );
    },
    flush() {
      for (const click of held.keys()) letGo(click);
    },
  };
}

/** Whether another link of the mail was followed in the second before or after. */
export function isInBurst(click: HeldClick, others: readonly HeldClick[], burstMs: number): boolean {
  return others.some((other) => other.link !== click.link && Math.abs(other.atMs - click.atMs) < burstMs);
}
