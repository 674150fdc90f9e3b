// Worker thread that reads contact files for dry runs.
import { runTasks } from "../../platform/threads/task-worker.ts";
import { createContactReader } from "./read-contact-row.ts";
import { addressesOf, noPause, readPart, type PartTask } from "./read-part.ts";

runTasks(async (task: PartTask) => addressesOf(await readPart(createContactReader, task, noPause)));
