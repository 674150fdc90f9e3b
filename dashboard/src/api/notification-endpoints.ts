// Endpoints for a member's notification settings.
import type * as notifications from "@postloft/contract/notifications.ts";
import { wrapped } from "./address.ts";

export const listNotifications = wrapped<typeof notifications.listNotifications>(
  "GET",
  "/projects/:projectId/notifications",
);
export const getNotificationWebhook = wrapped<typeof notifications.getNotificationWebhook>(
  "GET",
  "/projects/:projectId/notifications/webhook",
);
export const setNotificationWebhook = wrapped<typeof notifications.setNotificationWebhook>(
  "PUT",
  "/projects/:projectId/notifications/webhook",
);
export const testNotificationWebhook = wrapped<typeof notifications.testNotificationWebhook>(
  "POST",
  "/projects/:projectId/notifications/webhook/test",
);
export const updateNotifications = wrapped<typeof notifications.updateNotifications>(
  "PUT",
  "/projects/:projectId/notifications",
);
