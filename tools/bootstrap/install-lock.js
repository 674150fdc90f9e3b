// Used by prepare.js around installing: of several starts in the same moment one installs, the others wait for it.
// A file whose holder touches it every second, so it frees itself when the holder was killed, also when its pid was given to another process.
import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { PreparationError } from "./preparation-error.js";

const TOUCH_EVERY_MS = 1000;
/** Untouched for so long while we looked on: its holder is gone. */
const ABANDONED_AFTER_MS = 15_000;
const LOOK_EVERY_MS = 200;
const LONGEST_WAIT_MS = 15 * 60_000;

/**
 * Runs `work` while no other process runs its own on this folder.
 *
 * @param {string} folder exists already
 * @param {(message: string) => void} say told once when there is somebody to wait for
 * @param {() => Promise<T>} work
 * @returns {Promise<T>} what `work` gave
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
  // Made whole under another name first: nobody may read half a lock.
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
    // A killed process that nobody has waited for yet still answers.
    return process.platform === "linux" && / Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    return error.code === "ESRCH" || error.code === "ENOENT";
  }
}

/** Moved aside before it is judged again: between looking and removing, somebody else may have taken the lock. */
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
