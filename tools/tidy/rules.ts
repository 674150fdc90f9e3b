// Lists the house rules. Each rule's name and its findings explain the requirement.
import { dependencies } from "./dependencies.ts";
import { oneCampaignMove, oneTransaction, workNotifies } from "./commit-effects.ts";
import { links, treeMap } from "./documents.ts";
import { bannedWords } from "./glossary.ts";
import { barrelsAndState, headerNames, headers, oneClock, pathAliases } from "./modules.ts";
import { nounsTogether } from "./nouns.ts";
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
import { noFixedSleeps } from "./sleeps.ts";
import { oneWriterPerTable, sqlInItsPlace } from "./sql.ts";
import { tablePlaces } from "./table-places.ts";
import { readsInOrder } from "./table-reads.ts";
import type { Rule } from "./tree.ts";
import { everyTestRuns, machinePaths, names, suppressions, unfinishedWork } from "./wording.ts";

export const RULES: readonly Rule[] = [
  readingOrder,
  readingOrderShown,
  contractImports,
  importsStayInside,
  privateFiles,
  sqlInItsPlace,
  oneWriterPerTable,
  readsInOrder,
  sharding,
  tablePlaces,
  releasedMigrations,
  workNotifies,
  oneTransaction,
  oneCampaignMove,
  nounsTogether,
  oneClock,
  headers,
  headerNames,
  names,
  propertyNames,
  barrelsAndState,
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
