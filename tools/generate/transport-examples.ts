// Records API responses about the transports of a project for the documentation.
import type { Story } from "./answer-story.ts";

/** Adds a transport, changes it and lists it. */
export async function projectTransports({ ask }: Story, projectId: string): Promise<void> {
  const params = { projectId };
  const { id } = await ask<{ id: string }>("projects.createTransport", { params });
  await ask("projects.updateTransport", { params: { projectId, id } });
  await ask("projects.listTransports", { params });
}
