// Worker thread that unpacks and reads reports.
import { runTasks } from "../../platform/threads/task-worker.ts";
import { unpackReport } from "./unpack.ts";

runTasks(unpackReport);
