// Tests how the rejected rows of several parts are joined into one file.
import { expect, test } from "vitest";
import { mergeTables } from "./merge-tables.ts";

test("concatenates rows with the same header", () => {
  expect(mergeTables(["row,email,error\r\n3,a,bad\r\n", "row,email,error\r\n9,b,bad\r\n"])).toBe(
    "row,email,error\r\n3,a,bad\r\n9,b,bad\r\n",
  );
});

test("joins columns of the same name, adds others, and preserves quotes", () => {
  const merged = mergeTables([
    'Email,Name,Name,error\r\n"a, b",Ada,"Ada\nL.",bad\r\n',
    "Email,error\r\n",
    "Name,Email,UNSUB_TIME,error\r\nBo,b,2024,worse\r\n",
  ]);
  expect(merged).toBe(
    'Email,Name,Name,error,UNSUB_TIME\r\n"a, b",Ada,"Ada\nL.",bad,\r\nb,Bo,,worse,2024\r\n',
  );
});

test("keeps only the header if there are no rows", () => {
  expect(mergeTables(["row,error\r\n", "row,error\r\n"])).toBe("row,error\r\n");
});
