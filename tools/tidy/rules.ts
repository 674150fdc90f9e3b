// Lists the house rules. Each rule's name and its findings explain the requirement.
import { importCircles, longFunctions, nounsTogether } from "./circles.ts";
import { dependencies } from "./dependencies.ts";
import { oneCampaignMove, oneTransaction, workNotifies } from "./commit-effects.ts";
import { links, treeMap } from "./documents.ts";
import {
  environment,
  exportsAndState,
  headerNames,
  headers,
  oneClock,
  pathAliases,
  sound,
} from "./modules.ts";
import { bannedWords } from "./glossary.ts";
import { prose } from "./prose.ts";
import { propertyNames } from "./property-names.ts";
import {
  contractImports,
  importsStayInside,
  privateFiles,
  readingOrder,
  readingOrderShown,
} from "./reading-order.ts";
import { releasedMigrations } from "./released-migrations.ts";
import { sharding } from "./sharding.ts";
import { sizes } from "./sizes.ts";
import { noFixedSleeps } from "./sleeps.ts";
import { oneWriterPerTable, sqlInItsPlace } from "./sql.ts";
import { readsInOrder } from "./table-reads.ts";
import type { Rule } from "./tree.ts";
import { everyTestRuns, machinePaths, names, suppressions, unfinishedWork } from "./wording.ts";

export const RULES: readonly Rule[] = [
  sound,
  readingOrder,
  readingOrderShown,
  contractImports,
  importsStayInside,
  privateFiles,
  sqlInItsPlace,
  oneWriterPerTable,
  readsInOrder,
  sharding,
  releasedMigrations,
  workNotifies,
  oneTransaction,
  oneCampaignMove,
  importCircles,
  longFunctions,
  nounsTogether,
  environment,
  oneClock,
  headers,
  headerNames,
  sizes,
  names,
  propertyNames,
  exportsAndState,
  pathAliases,
  treeMap,
  links,
  dependencies,
  machinePaths,
  unfinishedWork,
  everyTestRuns,
  noFixedSleeps,
  suppressions,
  bannedWords,
  prose,
];
