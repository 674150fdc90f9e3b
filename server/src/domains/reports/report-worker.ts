// Worker thread that unpacks and reads reports.
import { answerTasks } from "../../platform/threads/task-worker.ts";
import { unpackReport } from "./unpack.ts";

answerTasks(unpackReport);
