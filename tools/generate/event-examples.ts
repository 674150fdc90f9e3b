// Records API responses about numbered events and webhook endpoints for the documentation.
import type { Story } from "./answer-story.ts";

const hasEvents = ({ events }: { events: readonly unknown[] }) => events.length > 0;

/** Tracks an event, reads it from the stream, and adds an endpoint that would receive the next ones. */
export async function eventStream(story: Story): Promise<void> {
  const { ask } = story;
  // The first call starts the numbering.
  await ask("events.stream");
  await ask("events.track");
  await story.askUntil("events.stream", { query: "?limit=1" }, hasEvents);
  const { id } = await ask<{ id: string }>("webhooks.createEndpoint");
  const params = { id };
  await ask("webhooks.updateEndpoint", { params });
  await ask("webhooks.rotateEndpointSecret", { params });
  await ask("webhooks.listEndpoints");
  await ask("webhooks.resendFailed", { params });
  await ask("webhooks.replay", { params });
}
