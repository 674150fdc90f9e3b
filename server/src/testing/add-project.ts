// Adds a project without members and keys, for tests that write to the database directly.
import { transaction, type Database } from "../platform/database/database.ts";
import { createProjectQueue } from "../emails/outbox/queues.ts";

export async function addProject(
  database: Database,
  { id, name = "Test" }: { id: string; name?: string },
): Promise<void> {
  await transaction(database, async (tx) => {
    await tx.insertInto("projects").values({ id, name }).execute();
    await createProjectQueue(tx, id);
  });
}
