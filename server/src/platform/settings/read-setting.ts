// Reads one setting from the environment or from a file, as containers provide secrets.
import { readFileSync } from "node:fs";

/** Returns the value of a setting, or an Error if it is set in both places or its file cannot be read. */
export function readSettingValue(
  environment: Readonly<Record<string, string | undefined>>,
  name: string,
): string | undefined | Error {
  const value = environment[name]?.trim() ?? "";
  const file = environment[`${name}_FILE`]?.trim() ?? "";
  if (file === "") return value === "" ? undefined : value;
  if (value !== "") return new Error(`${name}_FILE: ${name} is set too; leave one of them out`);
  try {
    const held = readFileSync(file, "utf8").trim();
    return held === "" ? new Error(`${name}_FILE: the file ${file} is empty`) : held;
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    return new Error(`${name}_FILE: the file ${file} cannot be read (${code})`);
  }
}
