// Setting checks of all parts of the program, for faults that only the part itself can detect.
import { faultsOfBilling } from "../billing/settings.ts";
import type { MoreChecks } from "../platform/settings/config.ts";
import { isFirstStart } from "../platform/database/open-database.ts";
import { faultsOfTransports } from "../transports/create-transport.ts";
import { faultsOfSubmission } from "../smtp-submission/settings.ts";
import { faultsOfStorage } from "../uploads/storage.ts";
import { faultsOfOauth } from "../users/oauth/settings.ts";
import { faultsOfBootstrap } from "./bootstrap.ts";

export const SETTING_CHECKS: readonly MoreChecks[] = [
  faultsOfTransports,
  faultsOfStorage,
  faultsOfSubmission,
  faultsOfBilling,
  faultsOfOauth,
  (settings) => (isFirstStart(settings) ? faultsOfBootstrap(settings) : []),
];
