// The table of contents of the HTTP side: every endpoint there is, in the order of the documentation.
// After it: tools/generate writes openapi.json and docs/api.md; server/src/api.ts must answer each of them.
import * as contactBulk from "./contact-bulk.ts";
import * as contactFields from "./contact-fields.ts";
import * as contactImport from "./contact-import.ts";
import * as campaignActions from "./campaign-actions.ts";
import * as campaigns from "./campaigns.ts";
import * as contacts from "./contacts.ts";
import * as domains from "./domains.ts";
import * as emails from "./emails.ts";
import type { Endpoint } from "./endpoint.ts";
import * as events from "./events.ts";
import * as instance from "./instance.ts";
import * as mailbox from "./mailbox.ts";
import * as pages from "./pages.ts";
import * as projects from "./projects.ts";
import * as security from "./security.ts";
import * as segments from "./segments.ts";
import * as templates from "./templates.ts";
import * as tracking from "./tracking.ts";
import * as users from "./users.ts";
import * as v1 from "./v1.ts";
import * as verify from "./verify.ts";
import * as webhooks from "./webhooks.ts";

export const ENDPOINTS: readonly Endpoint[] = [
  v1.track,
  v1.send,
  verify.verify,
  contacts.listContacts,
  contacts.upsertContact,
  contacts.countContacts,
  contacts.getContact,
  contacts.updateContact,
  contacts.deleteContact,
  contacts.lookUpContacts,
  contactFields.listContactFields,
  contactFields.listFieldValues,
  contactFields.getFieldUsage,
  contactFields.deleteContactField,
  contactBulk.bulkSubscribe,
  contactBulk.bulkUnsubscribe,
  contactBulk.bulkDelete,
  contactBulk.getBulk,
  contactImport.importContacts,
  contactImport.getImport,
  contactImport.getImportErrors,
  contactImport.exportContacts,
  contactImport.exportContact,
  contacts.listContactConsent,
  segments.listSegments,
  segments.createSegment,
  segments.previewSegment,
  segments.explainSegment,
  segments.getSegment,
  segments.updateSegment,
  segments.deleteSegment,
  segments.listSegmentContacts,
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
  templates.previewTemplate,
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
  campaignActions.listCampaignRecipients,
  campaignActions.getCampaignAudience,
  campaignActions.checkCampaign,
  v1.trackEvent,
  events.listEvents,
  events.listContactEvents,
  emails.listEmails,
  emails.listPausedDestinations,
  emails.releaseListMail,
  emails.getEmail,
  emails.resolveEmail,
  emails.listReturnedMessages,
  mailbox.listMessages,
  mailbox.getMessage,
  mailbox.getRawMessage,
  mailbox.deleteMessages,
  mailbox.listSystemMails,
  tracking.openPixel,
  tracking.followLink,
  pages.showUnsubscribePage,
  pages.unsubscribe,
  pages.showSubscribePage,
  pages.subscribe,
  pages.showManagePage,
  pages.manage,
  domains.listDomains,
  domains.createDomain,
  domains.verifyDomain,
  domains.rotateDomainKey,
  domains.deleteDomain,
  users.signUp,
  users.logIn,
  users.logOut,
  users.getMe,
  projects.listProjects,
  projects.createProject,
  projects.updateProject,
  projects.regenerateKeys,
  projects.regenerateInboundAddress,
  security.getOwnSecurity,
  security.getSecurity,
  webhooks.getWebhookSecret,
  webhooks.rotateWebhookSecret,
  webhooks.receiveSns,
  instance.getConfig,
  instance.getHealth,
  instance.getReadiness,
  instance.getMetrics,
  instance.getOpenApi,
];
