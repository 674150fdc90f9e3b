// The columns of a mail that was claimed, which is all that the sender knows of it.
import { sql } from "kysely";
import type { TrackingMode } from "@postloft/contract/projects.ts";
import type { Row } from "../../platform/database/row.ts";

export interface ClaimedRow extends Row<
  "emails",
  | "projectId"
  | "id"
  | "contactId"
  | "contentId"
  | "priority"
  | "toAddress"
  | "toName"
  | "copies"
  | "variables"
  | "attempts"
  | "campaignId"
  | "templateId"
  | "scheduledFor"
> {
  /** Set for a test email, which stores TestVariables as its variables. */
  isTest: boolean | null;
  /** Set for a test email that goes to the local mailbox. */
  staysHere: boolean | null;
  /** The project's tracking mode at the time of the claim. */
  tracking: TrackingMode;
  /** Whether the project used its suppression list at the time of the claim. */
  suppressionList: boolean;
  /** Whether the project had transports of its own at the time of the claim. */
  ownTransports: boolean;
  /**
   * Version of the project's queue at the time of the claim. It changes with every update of the queue, including a reset of the project.
   */
  queueVersion: string;
}

/** The columns of just claimed emails `e` of one project. */
export const CLAIMED_COLUMNS = (projectId: string) => sql`
  e.project_id, e.id, e.contact_id, e.content_id, e.priority, e.to_address, e.to_name, e.copies, e.variables, e.attempts,
  e.campaign_id, e.template_id, e.scheduled_for, e.is_test, e.stays_here, (select tracking from project_queues where project_id = ${projectId}) as tracking,
  (select suppression_list from project_queues where project_id = ${projectId}) as suppression_list,
  (select own_transports from project_queues where project_id = ${projectId}) as own_transports,
  (select xmin::text from project_queues where project_id = ${projectId}) as queue_version`;
