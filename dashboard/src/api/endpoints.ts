// Lists the endpoints the dashboard calls. Types come from the contract; endpoints.test.ts checks paths and envelopes.
import type * as account from "@postloft/contract/account.ts";
import type * as activity from "@postloft/contract/activity.ts";
import type * as analytics from "@postloft/contract/analytics.ts";
import type * as audit from "@postloft/contract/audit.ts";
import type * as billing from "@postloft/contract/billing.ts";
import type * as billingLimits from "@postloft/contract/limits/billing.ts";
import type * as campaignActions from "@postloft/contract/campaign-actions.ts";
import type * as campaigns from "@postloft/contract/campaigns.ts";
import type * as contactBulk from "@postloft/contract/contact-bulk.ts";
import type * as contactFields from "@postloft/contract/contact-fields.ts";
import type * as contactImport from "@postloft/contract/contact-import.ts";
import type * as contacts from "@postloft/contract/contacts.ts";
import type * as deliverability from "@postloft/contract/deliverability.ts";
import type * as domains from "@postloft/contract/domains.ts";
import type * as emails from "@postloft/contract/emails.ts";
import type * as events from "@postloft/contract/events.ts";
import type * as executions from "@postloft/contract/executions.ts";
import type * as importUndo from "@postloft/contract/import-undo.ts";
import type * as instance from "@postloft/contract/instance.ts";
import type * as keys from "@postloft/contract/keys.ts";
import type * as mailbox from "@postloft/contract/mailbox.ts";
import type * as members from "@postloft/contract/members.ts";
import type * as projectRemoval from "@postloft/contract/project-removal.ts";
import type * as projects from "@postloft/contract/projects.ts";
import type * as requests from "@postloft/contract/requests.ts";
import type * as security from "@postloft/contract/security.ts";
import type * as segments from "@postloft/contract/segments.ts";
import type * as suppressions from "@postloft/contract/suppressions.ts";
import type * as templateTrials from "@postloft/contract/template-trials.ts";
import type * as templates from "@postloft/contract/templates.ts";
import type * as uploads from "@postloft/contract/uploads.ts";
import type * as users from "@postloft/contract/users.ts";
import type * as v1 from "@postloft/contract/v1.ts";
import { bare, raw, wrapped } from "./address.ts";

export const getConfig = bare<typeof instance.getConfig>("GET", "/config");
export const getReadiness = bare<typeof instance.getReadiness>("GET", "/ready");

export const signUp = wrapped<typeof users.signUp>("POST", "/auth/signup");
export const logIn = wrapped<typeof users.logIn>("POST", "/auth/login");
export const logOut = wrapped<typeof users.logOut>("GET", "/auth/logout");
export const requestPasswordReset = wrapped<typeof account.requestPasswordReset>(
  "POST",
  "/auth/request-password-reset",
);
export const getMe = bare<typeof users.getMe>("GET", "/users/@me");

export const listProjects = bare<typeof projects.listProjects>("GET", "/users/@me/projects");
export const createProject = bare<typeof projects.createProject>("POST", "/users/@me/projects");
export const readInvitation = wrapped<typeof members.readInvitation>("GET", "/invitations/:token");
export const acceptInvitation = wrapped<typeof members.acceptInvitation>(
  "POST",
  "/invitations/:token/accept",
);
export const signUpInvited = wrapped<typeof members.signUpInvited>("POST", "/invitations/:token/sign-up");
export const getSetupState = wrapped<typeof projects.getSetupState>(
  "GET",
  "/projects/:projectId/setup-state",
);

export const listContacts = bare<typeof contacts.listContacts>("GET", "/contacts");
export const searchContacts = bare<typeof contacts.searchContacts>("POST", "/contacts/search");
export const getContact = bare<typeof contacts.getContact>("GET", "/contacts/:id");
export const upsertContact = bare<typeof contacts.upsertContact>("POST", "/contacts");
export const updateContact = bare<typeof contacts.updateContact>("PATCH", "/contacts/:id");
export const deleteContact = bare<typeof contacts.deleteContact>("DELETE", "/contacts/:id");

export const listContactConsent = bare<typeof contacts.listContactConsent>("GET", "/contacts/:id/consent");
export const getContactLinks = bare<typeof contacts.getContactLinks>("GET", "/contacts/:id/links");
export const listContactSegments = bare<typeof segments.listContactSegments>("GET", "/contacts/:id/segments");
export const listContactExecutions = bare<typeof executions.listContactExecutions>(
  "GET",
  "/contacts/:id/executions",
);
export const exportContact = bare<typeof contactImport.exportContact>("GET", "/contacts/:id/export");

export const listDomains = bare<typeof domains.listDomains>("GET", "/domains/project/:projectId");
export const createDomain = bare<typeof domains.createDomain>("POST", "/domains");
export const verifyDomain = bare<typeof domains.verifyDomain>("GET", "/domains/:id/verify");
export const diagnoseDomain = bare<typeof domains.diagnoseDomain>("GET", "/domains/:id/diagnosis");
export const rotateDomainKey = bare<typeof domains.rotateDomainKey>("POST", "/domains/:id/rotate-key");
export const deleteDomain = bare<typeof domains.deleteDomain>("DELETE", "/domains/:id");

export const listActivity = bare<typeof activity.listActivity>("GET", "/activity");
export const listUpcomingActivity = bare<typeof activity.listUpcomingActivity>("GET", "/activity/upcoming");

export const getTimeseries = bare<typeof analytics.getTimeseries>("GET", "/analytics/timeseries");
export const getSummary = bare<typeof analytics.getSummary>("GET", "/analytics/summary");
export const getBreakdown = bare<typeof analytics.getBreakdown>("GET", "/analytics/breakdown");
export const listTopEvents = bare<typeof analytics.listTopEvents>("GET", "/analytics/top-events");
export const getAudience = bare<typeof analytics.getAudience>("GET", "/analytics/audience");
export const getHours = bare<typeof analytics.getHours>("GET", "/analytics/hours");
export const getDeliverability = bare<typeof deliverability.getDeliverability>("GET", "/deliverability");
export const exportReport = raw<typeof analytics.exportReport>("GET", "/analytics/export.csv");

export const send = wrapped<typeof v1.send>("POST", "/v1/send");
export const listEmails = bare<typeof emails.listEmails>("GET", "/emails");
export const getEmail = bare<typeof emails.getEmail>("GET", "/emails/:id");
export const getMessage = bare<typeof mailbox.getMessage>("GET", "/mailbox/messages/:id");
export const previewEmail = bare<typeof emails.previewEmail>("GET", "/emails/:id/preview");
export const resolveEmail = bare<typeof emails.resolveEmail>("POST", "/emails/:id/resolve");
export const listReturnedMessages = bare<typeof emails.listReturnedMessages>("GET", "/emails/:id/returned");

export const updateProject = bare<typeof projects.updateProject>("PATCH", "/users/@me/projects/:projectId");
export const regenerateKeys = bare<typeof projects.regenerateKeys>(
  "POST",
  "/users/@me/projects/:projectId/regenerate-keys",
);
export const enableProject = bare<typeof projects.enableProject>("POST", "/projects/:projectId/enable");
export const resetProject = bare<typeof projectRemoval.resetProject>(
  "POST",
  "/users/@me/projects/:projectId/reset",
);
export const deleteProject = bare<typeof projectRemoval.deleteProject>(
  "DELETE",
  "/users/@me/projects/:projectId",
);
export const getSecurity = bare<typeof security.getOwnSecurity>(
  "GET",
  "/users/@me/projects/:projectId/security",
);
export const listAuditLog = bare<typeof audit.listAuditLog>("GET", "/projects/:projectId/audit-log");

export const getBillingLimits = bare<typeof billingLimits.getBillingLimits>(
  "GET",
  "/users/@me/projects/:projectId/billing-limits",
);
export const updateBillingLimits = bare<typeof billingLimits.updateBillingLimits>(
  "PUT",
  "/users/@me/projects/:projectId/billing-limits",
);
export const getConsumption = bare<typeof billingLimits.getConsumption>(
  "GET",
  "/users/@me/projects/:projectId/billing-consumption",
);
export const startCheckout = bare<typeof billing.startCheckout>(
  "POST",
  "/users/@me/projects/:projectId/checkout",
);
export const openPortal = bare<typeof billing.openPortal>(
  "POST",
  "/users/@me/projects/:projectId/billing-portal",
);
export const listInvoices = bare<typeof billing.listInvoices>(
  "GET",
  "/users/@me/projects/:projectId/billing-invoices",
);
export const listRequests = bare<typeof requests.listRequests>("GET", "/requests");
export const getRequest = bare<typeof requests.getRequest>("GET", "/requests/:id");
export const listKeys = wrapped<typeof keys.listKeys>("GET", "/projects/:projectId/keys");
export const createKey = wrapped<typeof keys.createKey>("POST", "/projects/:projectId/keys");
export const revokeKey = bare<typeof keys.revokeKey>("DELETE", "/projects/:projectId/keys/:keyId");

export const listMembers = wrapped<typeof members.listMembers>("GET", "/projects/:projectId/members");
export const addMember = wrapped<typeof members.addMember>("POST", "/projects/:projectId/members");
export const changeMember = wrapped<typeof members.changeMember>(
  "PATCH",
  "/projects/:projectId/members/:userId",
);
export const removeMember = wrapped<typeof members.removeMember>(
  "DELETE",
  "/projects/:projectId/members/:userId",
);
export const leaveProject = bare<typeof members.leaveProject>("POST", "/projects/:projectId/leave");
export const transferOwnership = wrapped<typeof members.transferOwnership>(
  "POST",
  "/projects/:projectId/transfer-ownership",
);
export const listInvitations = wrapped<typeof members.listInvitations>(
  "GET",
  "/projects/:projectId/invitations",
);
export const revokeInvitation = bare<typeof members.revokeInvitation>(
  "DELETE",
  "/projects/:projectId/invitations/:invitationId",
);

export const listSuppressions = bare<typeof suppressions.listSuppressions>("GET", "/suppressions");
export const addSuppressions = bare<typeof suppressions.addSuppressions>("POST", "/suppressions");
export const importSuppressions = bare<typeof suppressions.importSuppressions>(
  "POST",
  "/suppressions/import",
);
export const getSuppressionImport = bare<typeof suppressions.getSuppressionImport>(
  "GET",
  "/suppressions/import/:jobId",
);
export const removeSuppression = bare<typeof suppressions.removeSuppression>(
  "DELETE",
  "/suppressions/:address",
);

export const importContacts = bare<typeof contactImport.importContacts>("POST", "/contacts/import");
export const getImport = bare<typeof contactImport.getImport>("GET", "/contacts/import/:jobId");
export const getImportErrors = raw<typeof contactImport.getImportErrors>(
  "GET",
  "/contacts/import/:jobId/errors.csv",
);
export const getImportUndo = bare<typeof importUndo.getImportUndo>("GET", "/contacts/import/:jobId/undo");
export const undoImport = bare<typeof importUndo.undoImport>("POST", "/contacts/import/:jobId/undo");
export const exportContacts = raw<typeof contactImport.exportContacts>("GET", "/contacts/export.csv");
export const bulkSubscribe = bare<typeof contactBulk.bulkSubscribe>("POST", "/contacts/bulk-subscribe");
export const bulkUnsubscribe = bare<typeof contactBulk.bulkUnsubscribe>("POST", "/contacts/bulk-unsubscribe");
export const bulkDelete = bare<typeof contactBulk.bulkDelete>("POST", "/contacts/bulk-delete");
export const getBulk = bare<typeof contactBulk.getBulk>("GET", "/contacts/bulk/:jobId");

export const listFieldValues = bare<typeof contactFields.listFieldValues>(
  "GET",
  "/contacts/fields/:field/values",
);
export const getFieldUsage = bare<typeof contactFields.getFieldUsage>("GET", "/contacts/fields/:field/usage");
export const resetFieldType = bare<typeof contactFields.resetFieldType>(
  "POST",
  "/contacts/fields/:field/reset-type",
);
export const deleteContactField = bare<typeof contactFields.deleteContactField>(
  "DELETE",
  "/contacts/fields/:field",
);
export const listContactFields = bare<typeof contactFields.listContactFields>("GET", "/contacts/fields");

export const listTemplates = bare<typeof templates.listTemplates>("GET", "/templates");
export const createTemplate = bare<typeof templates.createTemplate>("POST", "/templates");
export const getTemplate = bare<typeof templates.getTemplate>("GET", "/templates/:id");
export const updateTemplate = bare<typeof templates.updateTemplate>("PATCH", "/templates/:id");
export const deleteTemplate = bare<typeof templates.deleteTemplate>("DELETE", "/templates/:id");
export const duplicateTemplate = bare<typeof templates.duplicateTemplate>("POST", "/templates/:id/duplicate");
export const getTemplateUsage = bare<typeof templates.getTemplateUsage>("GET", "/templates/:id/usage");
export const uploadImage = bare<typeof uploads.uploadImage>("POST", "/uploads/image");
export const testTemplate = bare<typeof templateTrials.testTemplate>("POST", "/templates/:id/test");
export const listTemplateVersions = bare<typeof templateTrials.listTemplateVersions>(
  "GET",
  "/templates/:id/versions",
);
export const getTemplateVersion = bare<typeof templateTrials.getTemplateVersion>(
  "GET",
  "/templates/:id/versions/:versionId",
);
export const restoreTemplateVersion = bare<typeof templateTrials.restoreTemplateVersion>(
  "POST",
  "/templates/:id/versions/:versionId/restore",
);
export const previewTemplate = bare<typeof templates.previewTemplate>("POST", "/templates/preview");

export const listEventNames = bare<typeof events.listEventNames>("GET", "/events/names");

export const listSegments = bare<typeof segments.listSegments>("GET", "/segments");
export const createSegment = bare<typeof segments.createSegment>("POST", "/segments");
export const getSegment = bare<typeof segments.getSegment>("GET", "/segments/:id");
export const updateSegment = bare<typeof segments.updateSegment>("PATCH", "/segments/:id");
export const deleteSegment = bare<typeof segments.deleteSegment>("DELETE", "/segments/:id");
export const addSegmentMembers = bare<typeof segments.addSegmentMembers>("POST", "/segments/:id/members");
export const removeSegmentMembers = bare<typeof segments.removeSegmentMembers>(
  "DELETE",
  "/segments/:id/members",
);
export const explainSegment = bare<typeof segments.explainSegment>("POST", "/segments/explain");

export const listCampaigns = bare<typeof campaigns.listCampaigns>("GET", "/campaigns");
export const createCampaign = wrapped<typeof campaigns.createCampaign>("POST", "/campaigns");
export const getCampaign = bare<typeof campaigns.getCampaign>("GET", "/campaigns/:id");
export const replaceCampaign = bare<typeof campaigns.replaceCampaign>("PUT", "/campaigns/:id");
export const deleteCampaign = bare<typeof campaigns.deleteCampaign>("DELETE", "/campaigns/:id");
export const duplicateCampaign = bare<typeof campaigns.duplicateCampaign>("POST", "/campaigns/:id/duplicate");
export const sendCampaign = bare<typeof campaignActions.sendCampaign>("POST", "/campaigns/:id/send");
export const cancelCampaign = bare<typeof campaignActions.cancelCampaign>("POST", "/campaigns/:id/cancel");
export const pauseCampaign = bare<typeof campaignActions.pauseCampaign>("POST", "/campaigns/:id/pause");
export const resumeCampaign = bare<typeof campaignActions.resumeCampaign>("POST", "/campaigns/:id/resume");
export const retryFailedCampaign = bare<typeof campaignActions.retryFailedCampaign>(
  "POST",
  "/campaigns/:id/retry-failed",
);
export const resolveCampaign = bare<typeof campaignActions.resolveCampaign>("POST", "/campaigns/:id/resolve");
export const releaseCampaign = bare<typeof campaignActions.releaseCampaign>("POST", "/campaigns/:id/release");
export const testCampaign = bare<typeof campaignActions.testCampaign>("POST", "/campaigns/:id/test");
export const getCampaignStats = bare<typeof campaignActions.getCampaignStats>("GET", "/campaigns/:id/stats");
export const listCampaignProviders = bare<typeof campaignActions.listCampaignProviders>(
  "GET",
  "/campaigns/:id/providers",
);
export const listCampaignRecipients = bare<typeof campaignActions.listCampaignRecipients>(
  "GET",
  "/campaigns/:id/recipients",
);
export const getCampaignAudience = bare<typeof campaignActions.getCampaignAudience>(
  "GET",
  "/campaigns/:id/audience",
);
export const checkCampaign = bare<typeof campaignActions.checkCampaign>("GET", "/campaigns/:id/check");
