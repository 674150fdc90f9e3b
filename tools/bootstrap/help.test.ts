// Tests that every command of package.json prints its help with --help and does nothing else.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";

const ROOT = path.join(import.meta.dirname, "../..");
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};

test.each(Object.entries(scripts))(
  "npm run %s -- --help prints the usage and does nothing",
  (name, script) => {
    const data = mkdtempSync(path.join(tmpdir(), "postloft-help-"));
    try {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [...script.split(" ").slice(1), "--help"],
        {
          cwd: ROOT,
          env: { ...process.env, DATA_DIR: data },
          encoding: "utf8",
        },
      );
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(stdout.split("\n")[0]).toMatch(
        new RegExp(`^npm (run )?${name === "restore" ? "(backup|restore)" : name}\\b`),
      );
      expect(readdirSync(data)).toEqual([]);
    } finally {
      rmSync(data, { recursive: true, force: true });
    }
  },
);
