// The table of contents of the house rules. What each one asks for is in its name and in the message of its findings.
// Before it: the files that define them. After it: tidy.test.ts, which holds the tree against each.
import { links, readmeMap } from "./documents.ts";
import {
  environment,
  exportsAndState,
  headerNames,
  headers,
  oneClock,
  pathAliases,
  sound,
} from "./modules.ts";
import { contractImports, importsStayInside, privateFiles, readingOrder } from "./reading-order.ts";
import { sizes } from "./sizes.ts";
import { oneWriterPerTable, sqlInItsPlace } from "./sql.ts";
import type { Rule } from "./tree.ts";
import { everyTestRuns, machinePaths, names, unfinishedWork } from "./wording.ts";

export const RULES: readonly Rule[] = [
  sound,
  readingOrder,
  contractImports,
  importsStayInside,
  privateFiles,
  sqlInItsPlace,
  oneWriterPerTable,
  environment,
  oneClock,
  headers,
  headerNames,
  sizes,
  names,
  exportsAndState,
  pathAliases,
  readmeMap,
  links,
  machinePaths,
  unfinishedWork,
  everyTestRuns,
];
