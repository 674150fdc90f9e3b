// What `npm run doctor` says of disks: of the database's where it is ours, else of what else there is.
import { hasRoomBelow } from "../platform/disk.ts";
import type { Finding } from "./finding.ts";

export function diskFinding(hasRoom: boolean, whose: string, follows: string): Finding {
  const check = "disk";
  return hasRoom
    ? { check, state: "ok", message: `There is room on the disk of ${whose}.` }
    : {
        check,
        state: "problem",
        message: `The disk of ${whose} is full, or nearly.`,
        advice: `Make room: ${follows}.`,
      };
}

/** With a database elsewhere. */
export async function lookAtDisks(dataDir: string): Promise<Finding[]> {
  return [
    diskFinding(await hasRoomBelow(dataDir), "DATA_DIR", "images that are uploaded cannot be stored"),
    {
      check: "disk of the database",
      state: "warning",
      message: "It was not looked at: DATABASE_URL names a server of yours.",
      advice: "Watch it where that server runs: when it is full, what is accepted cannot be stored.",
    },
  ];
}
