// The pages before and behind a login, which need no dashboard: a question with a button, and what came of it. Pure.
// Before it: account-routes.ts, oauth/routes.ts. After it: platform/public-page.ts frames them.
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import { ERRORS } from "@postloft/contract/errors.ts";
import { LIMITS } from "@postloft/contract/limits.ts";
import { escapeHtml } from "../platform/escape-html.ts";
import type { Answer, AnswerOf } from "../platform/http-route.ts";
import { PAGE_HEADERS, writePublicPage } from "../platform/public-page.ts";
import { PASSKEY_POLICY, PASSKEY_SCRIPT } from "./passkey-script.ts";
import { Refusal } from "../platform/refusal.ts";

function page(title: string, lines: readonly string[]): string {
  return writePublicPage({
    language: "en",
    direction: "ltr",
    title,
    lines: [`<h1>${escapeHtml(title)}</h1>`, ...lines],
  });
}

const paragraph = (text: string) => `<p>${escapeHtml(text)}</p>`;

export const verifyPage = () =>
  page("Confirm your e-mail address", [
    paragraph("This link came to your address. Confirm that it is yours."),
    '<form method="post"><button type="submit">Yes, it is mine</button></form>',
  ]);

export const verifiedPage = (email: string) =>
  page("Confirmed", [
    `<p role="status">${escapeHtml(`${email} is confirmed. You can close this page.`)}</p>`,
  ]);

/** @param problem what was wrong with the last try */
export const resetPage = (problem: string | null) =>
  page("Set a new password", [
    ...(problem === null ? [] : [`<p role="alert">${escapeHtml(problem)}</p>`]),
    '<form method="post"><label for="newPassword">New password</label>',
    `<input id="newPassword" name="newPassword" type="password" autocomplete="new-password" required minlength="${LIMITS.passwordMinimum.value}" maxlength="${LIMITS.passwordMaximum.value}">`,
    '<button type="submit">Set the password</button></form>',
    '<p class="note">All sessions of the account end.</p>',
  ]);

export const resetDonePage = () =>
  page("Your password is set", ['<p role="status">Log in with it. You can close this page.</p>']);

export const problemPage = (problem: string) =>
  page("This did not work", [`<p role="alert">${escapeHtml(problem)}</p>`]);

/** @param problem what was wrong with the last try */
const codePage = (problem: string | null) =>
  page("Your second factor", [
    ...(problem === null ? [] : [`<p role="alert">${escapeHtml(problem)}</p>`]),
    '<form method="post" action="/auth/oauth/code"><label for="code">Code of the app, or a recovery code</label>',
    '<input id="code" name="code" type="text" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required autofocus>',
    '<button type="submit">Log in</button></form>',
    '<form id="passkey" method="post" action="/auth/oauth/code" hidden><input name="passkey" type="hidden">',
    '<button class="quiet" type="submit">Use a passkey instead</button><p class="note" role="alert"></p></form>',
    `<script>${PASSKEY_SCRIPT}</script>`,
  ]);

/** The page of the second factor, which runs its one script. */
export function asCodePage<Status extends number>(problem: string | null, status: Status) {
  const headers = {
    ...PAGE_HEADERS,
    "content-security-policy": PAGE_HEADERS["content-security-policy"] + PASSKEY_POLICY,
  };
  return { status, body: codePage(problem), headers } satisfies Answer<Status, string>;
}

export function asPage(html: string): Answer<200, string>;
export function asPage<Status extends number>(html: string, status: Status): Answer<Status, string>;
export function asPage(html: string, status = 200): Answer<number, string> {
  return { status, body: html, headers: PAGE_HEADERS };
}

/** What was refused in words, where the page says that it may be; anything else goes on to the log. */
export function refusedPage<Page extends Endpoint>(
  { answers }: Page,
  error: unknown,
  write = problemPage,
): AnswerOf<Page> {
  const status = error instanceof Refusal ? ERRORS[error.code].status : 500;
  if (!(error instanceof Refusal) || !(status in answers)) throw error;
  return asPage(write(error.fields?.[0]?.message ?? error.message), status) as AnswerOf<Page>;
}
