// Records API responses about numbered events for the documentation.
import type { Story } from "./answer-story.ts";

const hasEvents = ({ events }: { events: readonly unknown[] }) => events.length > 0;

/** Tracks an event and reads it from the stream. */
export async function eventStream(story: Story): Promise<void> {
  const { ask } = story;
  // The first call starts the numbering.
  await ask("events.stream");
  await ask("events.track");
  await story.askUntil("events.stream", { query: "?limit=1" }, hasEvents);
}
