// Disk checks of `npm run doctor`: of an embedded database, otherwise of DATA_DIR.
import { asMessage, type ErrorMessage } from "@postloft/contract/translation.ts";
import { hasRoomBelow } from "../platform/disk.ts";
import type { Finding } from "./finding.ts";

interface Texts {
  enough: ErrorMessage;
  full: ErrorMessage;
  advice: string;
}

const OF_DATABASE: Texts = {
  enough: asMessage("The disk of the database has enough space."),
  full: asMessage("The disk of the database is full or nearly full."),
  advice: asMessage("Free some space. Otherwise accepted emails can't be stored.").message,
};
const OF_DATA_DIR: Texts = {
  enough: asMessage("The disk of DATA_DIR has enough space."),
  full: asMessage("The disk of DATA_DIR is full or nearly full."),
  advice: asMessage("Free some space. Otherwise uploaded images can't be stored.").message,
};

/** Returns the finding about the disk of an embedded database. */
export function databaseDiskFinding(hasRoom: boolean): Finding {
  return diskFinding(hasRoom, OF_DATABASE);
}

function diskFinding(hasRoom: boolean, { enough, full, advice }: Texts): Finding {
  const check = "disk";
  return hasRoom ? { check, state: "ok", ...enough } : { check, state: "problem", ...full, advice };
}

/** Checks the disks if the database runs elsewhere. */
export async function checkDisks(dataDir: string): Promise<Finding[]> {
  return [
    diskFinding(await hasRoomBelow(dataDir), OF_DATA_DIR),
    {
      check: "disk of the database",
      state: "warning",
      ...asMessage("Not checked, because DATABASE_URL names an external server."),
      advice: asMessage("Monitor the disk on that server. When it is full, accepted emails can't be stored.")
        .message,
    },
  ];
}
