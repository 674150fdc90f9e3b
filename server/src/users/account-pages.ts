// The pages behind the links in mails about accounts: a question with a button, and what came of it. Pure.
// Before it: account-routes.ts. After it: platform/public-page.ts frames them.
import { LIMITS } from "@postloft/contract/limits.ts";
import { escapeHtml } from "../platform/escape-html.ts";
import { writePublicPage } from "../platform/public-page.ts";

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
