// Lists every HTTP endpoint in the order of the documentation.
import * as account from "./account.ts";
import { ACCOUNT_PAGES } from "./account-pages.ts";
import * as activity from "./activity.ts";
import { CONTACT_BULK_ENDPOINTS } from "./contact-bulk.ts";
import * as contactFields from "./contact-fields.ts";
import * as contactImport from "./contact-import.ts";
import * as audit from "./audit.ts";
import * as billingLimits from "./limits/billing.ts";
import * as billing from "./billing.ts";
import * as analytics from "./analytics.ts";
import * as campaignActions from "./campaign-actions.ts";
import { CAMPAIGN_REPORT_ENDPOINTS } from "./campaign-report.ts";
import * as campaigns from "./campaigns.ts";
import * as contacts from "./contacts.ts";
import * as contactViews from "./contact-views.ts";
import * as deliverability from "./deliverability.ts";
import { DOMAIN_ENDPOINTS } from "./domains.ts";
import * as emails from "./emails.ts";
import type { Endpoint } from "./endpoint.ts";
import * as executions from "./executions.ts";
import { EVENT_STREAM_ENDPOINTS } from "./event-stream.ts";
import * as events from "./events.ts";
import * as importUndo from "./import-undo.ts";
import { INSTALLATION_ENDPOINTS } from "./installation.ts";
import { BACKUP_ENDPOINTS } from "./installation-backups.ts";
import * as instance from "./instance.ts";
import { CERTIFICATE_ENDPOINTS, LINK_DOMAIN_ENDPOINTS } from "./link-domains.ts";
import * as keys from "./keys.ts";
import * as mailbox from "./mailbox.ts";
import * as members from "./members.ts";
import * as notifications from "./notifications.ts";
import * as oauth from "./oauth.ts";
import * as passkeys from "./passkeys.ts";
import * as pages from "./pages.ts";
import * as projects from "./projects.ts";
import * as removal from "./project-removal.ts";
import { RECEIVED_EMAIL_ENDPOINTS } from "./received-emails.ts";
import * as requests from "./requests.ts";
import * as secondFactor from "./second-factor.ts";
import * as security from "./security.ts";
import * as segments from "./segments.ts";
import { SCHEDULED_EMAIL_ENDPOINTS } from "./scheduled-emails.ts";
import * as sendBatch from "./send-batch.ts";
import * as suppressions from "./suppressions.ts";
import * as templateTrials from "./template-trials.ts";
import * as templateVariants from "./template-variants.ts";
import * as templates from "./templates.ts";
import * as tracking from "./tracking.ts";
import * as uploads from "./uploads.ts";
import * as users from "./users.ts";
import * as v1 from "./v1.ts";
import * as verify from "./verify.ts";
import { WEBHOOK_DELIVERY_ENDPOINTS } from "./webhook-deliveries.ts";
import { PROJECT_TRANSPORT_ENDPOINTS } from "./project-transports.ts";
import { WEBHOOK_ENDPOINT_ENDPOINTS } from "./webhook-endpoints.ts";
import * as webhooks from "./webhooks.ts";
import { listFailures } from "./workflows/failures.ts";
import { MOVE_ENDPOINTS } from "./workflows/moves.ts";
import { PAUSE_ENDPOINTS } from "./workflows/pauses.ts";
import { pasteSteps } from "./workflows/paste.ts";
import * as workflowSteps from "./workflows/steps.ts";
import { VERSION_ENDPOINTS } from "./workflows/versions.ts";
import * as workflows from "./workflows/workflows.ts";
import * as workflowQuestions from "./workflows/questions.ts";

export const ENDPOINTS: readonly Endpoint[] = [
  v1.track,
  v1.send,
  sendBatch.sendBatch,
  verify.verify,
  contacts.listContacts,
  contacts.searchContacts,
  contacts.upsertContact,
  contacts.countContacts,
  contacts.getContact,
  contacts.updateContact,
  contacts.deleteContact,
  executions.listContactExecutions,
  contacts.lookUpContacts,
  contactFields.listContactFields,
  contactFields.listFieldValues,
  contactFields.getFieldUsage,
  contactFields.resetFieldType,
  contactFields.deleteContactField,
  ...contactViews.CONTACT_VIEW_ENDPOINTS,
  ...CONTACT_BULK_ENDPOINTS,
  ...importUndo.IMPORT_ENDPOINTS,
  contactImport.exportContacts,
  contactImport.exportContact,
  contacts.listContactConsent,
  contacts.getContactLinks,
  ...suppressions.SUPPRESSION_ENDPOINTS,
  segments.listSegments,
  segments.createSegment,
  segments.previewSegment,
  segments.explainSegment,
  segments.getSegment,
  segments.updateSegment,
  segments.deleteSegment,
  segments.listSegmentContacts,
  segments.listContactSegments,
  segments.addSegmentMembers,
  segments.removeSegmentMembers,
  segments.computeSegment,
  segments.refreshSegment,
  templates.listTemplates,
  templates.createTemplate,
  templates.getTemplate,
  templates.updateTemplate,
  templates.deleteTemplate,
  templates.duplicateTemplate,
  templates.getTemplateUsage,
  ...templateVariants.TEMPLATE_VARIANT_ENDPOINTS,
  ...templateTrials.TEMPLATE_TRIAL_ENDPOINTS,
  uploads.uploadImage,
  uploads.listUploads,
  uploads.deleteUnusedUploads,
  uploads.updateUpload,
  uploads.deleteUpload,
  uploads.openImage,
  campaigns.listCampaigns,
  campaigns.createCampaign,
  campaigns.getCampaign,
  campaigns.replaceCampaign,
  campaigns.deleteCampaign,
  campaigns.duplicateCampaign,
  campaignActions.sendCampaign,
  campaignActions.cancelCampaign,
  campaignActions.pauseCampaign,
  campaignActions.resumeCampaign,
  campaignActions.retryFailedCampaign,
  campaignActions.resolveCampaign,
  campaignActions.releaseCampaign,
  campaignActions.testCampaign,
  campaignActions.getCampaignStats,
  campaignActions.listCampaignProviders,
  campaignActions.listCampaignRecipients,
  campaignActions.getCampaignAudience,
  campaignActions.checkCampaign,
  ...CAMPAIGN_REPORT_ENDPOINTS,
  workflows.listWorkflows,
  workflows.createWorkflow,
  workflowQuestions.listWorkflowFields,
  workflows.getWorkflow,
  workflows.updateWorkflow,
  ...PAUSE_ENDPOINTS,
  ...MOVE_ENDPOINTS,
  workflows.deleteWorkflow,
  workflows.duplicateWorkflow,
  workflowSteps.createStep,
  workflowSteps.updateStep,
  workflowSteps.deleteStep,
  workflowSteps.insertStep,
  pasteSteps,
  workflowSteps.createTransition,
  workflowSteps.deleteTransition,
  ...VERSION_ENDPOINTS,
  workflowQuestions.explainEntry,
  workflowQuestions.simulateWorkflow,
  workflowQuestions.replayWorkflow,
  workflowQuestions.countSteps,
  executions.startExecution,
  executions.listExecutions,
  listFailures,
  executions.getExecution,
  executions.cancelExecution,
  executions.cancelAllExecutions,
  executions.retryExecution,
  executions.skipExecution,
  executions.retryFailedAtStep,
  executions.skipFailedAtStep,
  v1.trackEvent,
  ...events.EVENT_ENDPOINTS,
  ...EVENT_STREAM_ENDPOINTS,
  activity.listActivity,
  activity.streamActivity,
  activity.countRecentActivity,
  activity.listActivityTypes,
  activity.listUpcomingActivity,
  analytics.getActivityStats,
  analytics.getTimeseries,
  analytics.getSummary,
  analytics.getBreakdown,
  analytics.listTopCampaigns,
  analytics.getCampaignTotals,
  analytics.listTopEvents,
  analytics.getAudience,
  analytics.getHours,
  analytics.exportReport,
  deliverability.getDeliverability,
  emails.listEmails,
  emails.listPausedDestinations,
  emails.releaseListMail,
  emails.getEmail,
  emails.previewEmail,
  emails.resolveEmail,
  emails.listReturnedMessages,
  ...SCHEDULED_EMAIL_ENDPOINTS,
  ...RECEIVED_EMAIL_ENDPOINTS,
  mailbox.listMessages,
  mailbox.getMessage,
  mailbox.getRawMessage,
  mailbox.deleteMessages,
  mailbox.listPlatformEmails,
  tracking.openPixel,
  tracking.followLink,
  pages.showUnsubscribePage,
  pages.unsubscribe,
  pages.showSubscribePage,
  pages.subscribe,
  pages.showManagePage,
  pages.manage,
  ...DOMAIN_ENDPOINTS,
  ...LINK_DOMAIN_ENDPOINTS,
  users.signUp,
  users.completeSignUp,
  users.logIn,
  users.logOut,
  passkeys.askPasskey,
  passkeys.logInByPasskey,
  oauth.getOauthConfig,
  account.requestVerification,
  account.verifyEmail,
  account.requestPasswordReset,
  account.resetPassword,
  users.getMe,
  users.updateMe,
  account.changePassword,
  account.changeEmail,
  account.deleteAccount,
  account.listSessions,
  account.endSession,
  account.endOtherSessions,
  oauth.listIdentities,
  oauth.removeIdentity,
  passkeys.listPasskeys,
  passkeys.beginPasskey,
  passkeys.addPasskey,
  passkeys.renamePasskey,
  passkeys.removePasskey,
  secondFactor.getSecondFactor,
  secondFactor.beginSecondFactor,
  secondFactor.confirmSecondFactor,
  secondFactor.renewRecoveryCodes,
  secondFactor.endSecondFactor,
  ...ACCOUNT_PAGES,
  oauth.beginOauth,
  oauth.finishOauth,
  oauth.submitOauthCode,
  projects.listProjects,
  projects.createProject,
  projects.updateProject,
  removal.resetProject,
  removal.deleteProject,
  removal.getRemoval,
  projects.getSetupState,
  projects.enableProject,
  ...PROJECT_TRANSPORT_ENDPOINTS,
  projects.regenerateKeys,
  projects.regenerateInboundAddress,
  security.getOwnSecurity,
  security.getSecurity,
  keys.listKeys,
  keys.createKey,
  keys.revokeKey,
  members.listMembers,
  members.addMember,
  members.changeMember,
  members.removeMember,
  members.leaveProject,
  members.transferOwnership,
  members.listInvitations,
  members.revokeInvitation,
  members.readInvitation,
  members.acceptInvitation,
  members.signUpInvited,
  ...notifications.NOTIFICATION_ENDPOINTS,
  audit.listAuditLog,
  requests.listRequests,
  requests.getRequest,
  webhooks.getWebhookSecret,
  webhooks.rotateWebhookSecret,
  ...WEBHOOK_ENDPOINT_ENDPOINTS,
  ...WEBHOOK_DELIVERY_ENDPOINTS,
  webhooks.receiveSns,
  billing.receiveStripe,
  billing.startCheckout,
  billing.openPortal,
  billing.listInvoices,
  ...billingLimits.BILLING_LIMIT_ENDPOINTS,
  ...instance.INSTANCE_ENDPOINTS,
  ...CERTIFICATE_ENDPOINTS,
  ...INSTALLATION_ENDPOINTS,
  ...BACKUP_ENDPOINTS,
];
