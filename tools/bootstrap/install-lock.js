// Used by prepare.js so that one of several simultaneous starts installs while the others wait. The holder touches the lock file every
// second, so a lock expires if its holder was killed, even if another process has taken over its pid.
import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { PreparationError } from "./preparation-error.js";

const TOUCH_EVERY_MS = 1000;
/** A lock that stays untouched for this long has lost its holder. */
const ABANDONED_AFTER_MS = 15_000;
const LOOK_EVERY_MS = 200;
const LONGEST_WAIT_MS = 15 * 60_000;

/**
 * Runs `work` while no other process runs its own on this folder.
 * @param {string} folder must exist
 * @param {(message: string) => void} say called once if there is a process to wait for
 * @param {() => Promise<T>} work
 * @returns {Promise<T>} the result of `work`
 * @template T
 */
export async function withInstallLock(folder, say, work) {
  const lockFile = path.join(folder, "install.lock");
  const content = JSON.stringify({ pid: process.pid, host: hostname(), token: randomUUID() });
  await takeLock(lockFile, content, say);
  const touching = setInterval(() => touch(lockFile), TOUCH_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    removeIfStill(lockFile, content);
  }
}

async function takeLock(lockFile, content, say) {
  const startedAt = performance.now();
  let seen = { holder: "", touchedAt: 0, since: startedAt };
  while (performance.now() - startedAt < LONGEST_WAIT_MS) {
    if (create(lockFile, content)) return;
    const now = look(lockFile);
    if (now !== undefined) {
      const isFirstLook = seen.holder === "";
      if (now.holder !== seen.holder || now.touchedAt !== seen.touchedAt)
        seen = { ...now, since: performance.now() };
      if (isDead(now.holder) || performance.now() - seen.since > ABANDONED_AFTER_MS) {
        removeIfStill(lockFile, now.holder);
        continue;
      }
      if (isFirstLook) say("Another start is installing; waiting for it …");
    }
    await delay(LOOK_EVERY_MS);
  }
  throw new PreparationError(
    `Another start is installing for too long (${lockFile}). End it, then start again.`,
  );
}

function create(lockFile, content) {
  // Write under a temporary name first, so that no process reads half a lock.
  const temporary = `${lockFile}.${process.pid}`;
  writeFileSync(temporary, content);
  try {
    linkSync(temporary, lockFile);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  } finally {
    unlinkSync(temporary);
  }
}

function look(lockFile) {
  try {
    return { holder: readFileSync(lockFile, "utf8"), touchedAt: statSync(lockFile).mtimeMs };
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

function isDead(holder) {
  const { pid, host } = JSON.parse(holder);
  if (host !== hostname()) return false;
  try {
    process.kill(pid, 0);
    // A killed process still has a pid until its parent collects it.
    return process.platform === "linux" && / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    return error.code === "ESRCH" || error.code === "ENOENT";
  }
}

/** Move the file aside and check again, because another process may have taken the lock in between. */
function removeIfStill(lockFile, content) {
  const aside = `${lockFile}.${process.pid}.aside`;
  try {
    renameSync(lockFile, aside);
    if (readFileSync(aside, "utf8") !== content) linkSync(aside, lockFile);
    unlinkSync(aside);
  } catch (error) {
    if (error.code !== "ENOENT" && error.code !== "EEXIST") throw error;
  }
}

function touch(lockFile) {
  try {
    utimesSync(lockFile, new Date(), new Date());
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
}
