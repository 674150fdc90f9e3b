// Tests reading CSV files from a ZIP, and that no ZIP exhausts the page's memory.
import { strToU8, zipSync, type Zippable } from "fflate";
import { expect, test } from "vitest";
import { unzipTables, ZIP_FILES_MAX } from "./unzip-tables.ts";

const MOST = 1_000_000;
const zip = (files: Record<string, string>, level: 0 | 6 = 6) =>
  zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])), { level });
const problemOf = async (bytes: Uint8Array, most = MOST) => (await unzipTables(bytes, most)).problem;

test.for([0, 6] as const)(
  "a ZIP of level %d returns its CSV files in their order, without folders",
  async (level) => {
    const large = `email\n${"ada@example.com\n".repeat(50_000)}`;
    const archive = zip(
      {
        "subscribed_members_export_1.csv": large,
        "export/unsubscribed_members_export_1.csv": "email\nbo@example.com\n",
        "__MACOSX/._cleaned.csv": "x",
        "readme.md": "# Export",
      },
      level,
    );
    const { files = [] } = await unzipTables(archive, MOST);
    expect(files.map(({ name, bytes }) => [name, new TextDecoder().decode(bytes)])).toEqual([
      ["subscribed_members_export_1.csv", large],
      ["unsubscribed_members_export_1.csv", "email\nbo@example.com\n"],
    ]);
  },
);

test("stops reading a ZIP bomb at the limit, regardless of the size it claims", async () => {
  const bomb = zip({ "bomb.csv": "0".repeat(5_000_000) });
  expect(bomb.length).toBeLessThan(10_000);
  expect(await problemOf(bomb)).toBe("large");
});

test("rejects a ZIP with 1,000 files", async () => {
  const files: Zippable = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, at) => [`${at}.csv`, strToU8("email\n")]),
  );
  expect(await problemOf(zipSync(files))).toBe("manyFiles");
  const few = Object.fromEntries(Array.from({ length: ZIP_FILES_MAX }, (_, at) => [`${at}.csv`, "email\n"]));
  expect((await unzipTables(zip(few), MOST)).files).toHaveLength(ZIP_FILES_MAX);
});

test("rejects a workbook, a ZIP without a CSV file, a damaged ZIP and other bytes", async () => {
  const whole = zip({ "a.csv": "email\nada@example.com\n".repeat(1_000) });
  expect(await problemOf(zip({ "[Content_Types].xml": "<x/>", "xl/workbook.xml": "<x/>" }))).toBe("workbook");
  expect(await problemOf(zip({ "readme.md": "x" }))).toBe("noTable");
  expect(await problemOf(whole.subarray(0, whole.length / 3))).toBe("damaged");
  expect(await problemOf(strToU8("PK\u0003\u0004 and nothing else"))).toBe("damaged");
  expect(await problemOf(new Uint8Array(0))).toBe("damaged");
});
