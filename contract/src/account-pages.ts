// Public pages behind the links in account emails. They work without the dashboard and without JavaScript.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { LIMITS } from "./limits/limits.ts";

const byToken = z.object({ token: z.string().describe("The token from the link.") });
const html = z.string();
const OPENING_CHANGES_NOTHING = "Opening the link changes nothing, no matter how often or by which program.";

export const showVerifyPage = endpoint({
  name: "accountPages.showVerify",
  method: "GET",
  path: "/account/verify-email/:token",
  summary: "Show the page that confirms an address",
  description: OPENING_CHANGES_NOTHING,
  caller: "anyone",
  params: byToken,
  envelope: "page",
  responses: { 200: html },
});

export const submitVerifyPage = endpoint({
  name: "accountPages.verify",
  method: "POST",
  path: "/account/verify-email/:token",
  summary: "Confirm an address with the page's button",
  description: "Same as `POST /auth/verify-email`.",
  caller: "anyone",
  params: byToken,
  body: z.object({}),
  bodyLimitBytes: LIMITS.formBytes.value,
  envelope: "page",
  responses: { 200: html, 400: html, 409: html, 429: html },
});

export const showSignUpPage = endpoint({
  name: "accountPages.showSignUp",
  method: "GET",
  path: "/account/sign-up/:token",
  summary: "Show the page that asks for a new account's password",
  description: OPENING_CHANGES_NOTHING,
  caller: "anyone",
  params: byToken,
  envelope: "page",
  responses: { 200: html },
});

export const submitSignUpPage = endpoint({
  name: "accountPages.signUp",
  method: "POST",
  path: "/account/sign-up/:token",
  summary: "Create an account with the page's form",
  description:
    "Same as `POST /auth/complete-signup`, but no session is opened because a form on another site could submit this one.",
  caller: "anyone",
  params: byToken,
  body: z.object({ password: z.string().optional() }),
  bodyLimitBytes: LIMITS.formBytes.value,
  envelope: "page",
  responses: { 200: html, 400: html, 403: html, 409: html, 422: html, 429: html },
});

export const showResetPage = endpoint({
  name: "accountPages.showReset",
  method: "GET",
  path: "/account/reset-password/:token",
  summary: "Show the page that asks for a new password",
  description: OPENING_CHANGES_NOTHING,
  caller: "anyone",
  params: byToken,
  envelope: "page",
  responses: { 200: html },
});

export const submitResetPage = endpoint({
  name: "accountPages.reset",
  method: "POST",
  path: "/account/reset-password/:token",
  summary: "Set a new password with the page's form",
  description: "Same as `POST /auth/reset-password`.",
  caller: "anyone",
  params: byToken,
  body: z.object({ newPassword: z.string().optional() }),
  bodyLimitBytes: LIMITS.formBytes.value,
  envelope: "page",
  responses: { 200: html, 400: html, 422: html, 429: html },
});

export const ACCOUNT_PAGES = [
  showVerifyPage,
  submitVerifyPage,
  showSignUpPage,
  submitSignUpPage,
  showResetPage,
  submitResetPage,
];
