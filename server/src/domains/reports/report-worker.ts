// On a thread of its own: unpacks and reads reports. Before it: unpack-apart.ts. After it: unpack.ts.
import { answerTasks } from "../../platform/task-worker.ts";
import { unpackReport } from "./unpack.ts";

answerTasks(unpackReport);
