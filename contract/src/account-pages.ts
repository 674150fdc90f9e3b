// The pages behind the links in mails about accounts: they work without the dashboard and without JavaScript.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { LIMITS } from "./limits/limits.ts";

const byToken = z.object({ token: z.string().describe("As it stands in the link.") });
const html = z.string();
const LOOKING = "Looking changes nothing, however often and by whomever the link is opened.";

export const showVerifyPage = endpoint({
  name: "accountPages.showVerify",
  method: "GET",
  path: "/account/verify-email/:token",
  summary: "Page that asks whether an address is yours",
  description: LOOKING,
  caller: "anyone",
  params: byToken,
  envelope: "page",
  answers: { 200: html },
});

export const submitVerifyPage = endpoint({
  name: "accountPages.verify",
  method: "POST",
  path: "/account/verify-email/:token",
  summary: "Prove an address by the page's button",
  description: "As `POST /auth/verify-email`.",
  caller: "anyone",
  params: byToken,
  body: z.object({}),
  bodyLimitBytes: LIMITS.formBytes.value,
  envelope: "page",
  answers: { 200: html, 400: html, 409: html, 429: html },
});

export const showSignUpPage = endpoint({
  name: "accountPages.showSignUp",
  method: "GET",
  path: "/account/sign-up/:token",
  summary: "Page that asks for the password of a new account",
  description: LOOKING,
  caller: "anyone",
  params: byToken,
  envelope: "page",
  answers: { 200: html },
});

export const submitSignUpPage = endpoint({
  name: "accountPages.signUp",
  method: "POST",
  path: "/account/sign-up/:token",
  summary: "Create an account by the page's form",
  description:
    "As `POST /auth/complete-signup`, without a session: a form on another site could submit this one.",
  caller: "anyone",
  params: byToken,
  body: z.object({ password: z.string().optional() }),
  bodyLimitBytes: LIMITS.formBytes.value,
  envelope: "page",
  answers: { 200: html, 400: html, 403: html, 409: html, 422: html, 429: html },
});

export const showResetPage = endpoint({
  name: "accountPages.showReset",
  method: "GET",
  path: "/account/reset-password/:token",
  summary: "Page that asks for a new password",
  description: LOOKING,
  caller: "anyone",
  params: byToken,
  envelope: "page",
  answers: { 200: html },
});

export const submitResetPage = endpoint({
  name: "accountPages.reset",
  method: "POST",
  path: "/account/reset-password/:token",
  summary: "Set a new password by the page's form",
  description: "As `POST /auth/reset-password`.",
  caller: "anyone",
  params: byToken,
  body: z.object({ newPassword: z.string().optional() }),
  bodyLimitBytes: LIMITS.formBytes.value,
  envelope: "page",
  answers: { 200: html, 400: html, 422: html, 429: html },
});

/** All of them, in the order of the documentation. */
export const ACCOUNT_PAGES = [
  showVerifyPage,
  submitVerifyPage,
  showSignUpPage,
  submitSignUpPage,
  showResetPage,
  submitResetPage,
];
