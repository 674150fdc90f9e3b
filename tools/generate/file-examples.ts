// Records responses about files: images, imports and exports.
import type { Story } from "./answer-story.ts";

/** An image of one pixel. */
const GIF = Buffer.from("R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==", "base64");

/** Matches image keys, which are replaced by a fixed one so that recordings are reproducible. */
export const IMAGE_KEY = /\b[0-9a-f]{64}(?=\.gif)/g;
export const SHOWN_KEY = "0199e0a17b2c7d3e8f40".padEnd(64, "0");

export async function images({ ask }: Story): Promise<void> {
  const body = new FormData();
  body.set("image", new Blob([GIF]), "logo.gif");
  const { key } = await ask<{ key: string }>("uploads.create", { body });
  await ask("uploads.update", { params: { key } });
  await ask("uploads.list");
  await ask("uploads.deleteUnused");
}

const isEnded = ({ state }: { state: string }) => state === "completed";

export async function contactFiles(story: Story, contactId: string): Promise<void> {
  const { ask } = story;
  await ask("contacts.consent", { params: { id: contactId } });
  const file = new FormData();
  file.set("file", new Blob(["email,plan\ngrace@example.com,pro\nno address,pro\n"]), "contacts.csv");
  const imported = await ask<{ jobId: string }>("contacts.import", { body: file });
  await story.askUntil("contacts.getImport", { params: { jobId: imported.jobId } }, isEnded);
  await ask("contacts.listImports");
  await ask("contacts.getImportUndo", { params: { jobId: imported.jobId } });
  await ask("contacts.undoImport", { params: { jobId: imported.jobId } });
  await suppressionList(story, file);
  const body = { contactIds: [contactId] };
  await ask("contacts.bulkUnsubscribe");
  await ask("contacts.bulkSubscribe", { body });
  await ask("contacts.bulkUpdate");
  const changed = await ask<{ jobId: string }>("contacts.bulkDelete", { body });
  await story.askUntil("contacts.getBulk", { params: { jobId: changed.jobId } }, isEnded);
  await ask("contacts.resetFieldType", { params: { field: "data.plan" } });
  await ask("contacts.deleteField", { params: { field: "data.plan" } });
}

async function suppressionList(story: Story, file: FormData): Promise<void> {
  const { ask } = story;
  await ask("suppressions.add");
  const queued = await ask<{ jobId: string }>("suppressions.import", { body: file });
  await story.askUntil("suppressions.getImport", { params: { jobId: queued.jobId } }, isEnded);
  await ask("suppressions.list");
  await ask("suppressions.explain", { params: { address: "gone@example.com" } });
}
