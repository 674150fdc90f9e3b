// Endpoints for saved contact views.
import type * as contactViews from "@postloft/contract/contact-views.ts";
import { bare } from "./address.ts";

export const listContactViews = bare<typeof contactViews.listContactViews>("GET", "/contacts/views");
export const createContactView = bare<typeof contactViews.createContactView>("POST", "/contacts/views");
export const updateContactView = bare<typeof contactViews.updateContactView>("PATCH", "/contacts/views/:id");
export const deleteContactView = bare<typeof contactViews.deleteContactView>("DELETE", "/contacts/views/:id");
