// Disk checks of `npm run doctor`: of an embedded database, otherwise of DATA_DIR.
import { hasRoomBelow } from "../platform/disk.ts";
import type { Finding } from "./finding.ts";

export function diskFinding(hasRoom: boolean, owner: string, follows: string): Finding {
  const check = "disk";
  return hasRoom
    ? { check, state: "ok", message: `The disk of ${owner} has enough space.` }
    : {
        check,
        state: "problem",
        message: `The disk of ${owner} is full or nearly full.`,
        advice: `Free some space. Otherwise ${follows}.`,
      };
}

/** Checks the disks if the database runs elsewhere. */
export async function checkDisks(dataDir: string): Promise<Finding[]> {
  return [
    diskFinding(await hasRoomBelow(dataDir), "DATA_DIR", "uploaded images can't be stored"),
    {
      check: "disk of the database",
      state: "warning",
      message: "Not checked, because DATABASE_URL names an external server.",
      advice: "Monitor the disk on that server. When it is full, accepted emails can't be stored.",
    },
  ];
}
