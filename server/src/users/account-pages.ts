// Account pages that work without the dashboard: forms for confirming, signing up and resetting a password, and their results. Pure.
import type { Endpoint } from "@postloft/contract/endpoint.ts";
import { ERRORS } from "@postloft/contract/errors.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { escapeHtml } from "../platform/escape-html.ts";
import type { HttpResponse, ResponseOf } from "../platform/http/route.ts";
import { PAGE_HEADERS, writePublicPage } from "../platform/http/public-page.ts";
import { PASSKEY_POLICY, PASSKEY_SCRIPT } from "./passkey-script.ts";
import { AppError } from "../platform/app-error.ts";
import { problemOf, type PageWords } from "./page-error.ts";

function page({ language }: PageWords, title: string, lines: readonly string[]): string {
  return writePublicPage({
    language,
    direction: "ltr",
    title,
    lines: [`<h1>${escapeHtml(title)}</h1>`, ...lines],
  });
}

const paragraph = (text: string) => `<p>${escapeHtml(text)}</p>`;
const statusLine = (text: string) => `<p role="status">${escapeHtml(text)}</p>`;
const alertLine = (text: string) => `<p role="alert">${escapeHtml(text)}</p>`;
const button = (text: string, look = "") => `<button${look} type="submit">${escapeHtml(text)}</button>`;

export function verifyPage(words: PageWords): string {
  const { title, about, action } = words.texts.verify;
  return page(words, title, [paragraph(about), `<form method="post">${button(action)}</form>`]);
}

export function verifiedPage(words: PageWords, email: string): string {
  const { title, about } = words.texts.verified;
  return page(words, title, [statusLine(about({ email }))]);
}

/** @param problem with the previous attempt */
export function signUpPage(words: PageWords, problem: string | null): string {
  return passwordPage(words, words.texts.signUp, { name: "password", problem });
}

/** @param problem with the previous attempt */
export function resetPage(words: PageWords, problem: string | null): string {
  return passwordPage(words, words.texts.reset, { name: "newPassword", problem });
}

function passwordPage(
  words: PageWords,
  { title, label, action, note }: PageWords["texts"]["reset"],
  { name, problem }: { name: string; problem: string | null },
): string {
  return page(words, title, [
    ...(problem === null ? [] : [alertLine(problem)]),
    `<form method="post"><label for="${name}">${escapeHtml(label)}</label>`,
    `<input id="${name}" name="${name}" type="password" autocomplete="new-password" required minlength="${LIMITS.passwordMinimum.value}" maxlength="${LIMITS.passwordMaximum.value}">`,
    `${button(action)}</form>`,
    `<p class="note">${escapeHtml(note)}</p>`,
  ]);
}

/** Opens no session, because a form on another site can submit the page before it. */
export function signedUpPage(words: PageWords, email: string, signInUrl: string): string {
  const { title, about, action } = words.texts.signedUp;
  return page(words, title, [
    statusLine(about({ email })),
    `<p><a href="${escapeHtml(signInUrl)}">${escapeHtml(action)}</a></p>`,
  ]);
}

export function resetDonePage(words: PageWords): string {
  const { title, about } = words.texts.resetDone;
  return page(words, title, [statusLine(about)]);
}

export const problemPage = (words: PageWords, problem: string) =>
  page(words, words.texts.problem.title, [alertLine(problem)]);

/** @param problem with the previous attempt */
function codePage(words: PageWords, problem: string | null): string {
  const { title, label, action, passkey, noPasskey } = words.texts.code;
  return page(words, title, [
    ...(problem === null ? [] : [alertLine(problem)]),
    `<form method="post" action="/auth/oauth/code"><label for="code">${escapeHtml(label)}</label>`,
    '<input id="code" name="code" type="text" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required autofocus>',
    `${button(action)}</form>`,
    `<form id="passkey" method="post" action="/auth/oauth/code" data-none="${escapeHtml(noPasskey)}" hidden><input name="passkey" type="hidden">`,
    `${button(passkey, ' class="quiet"')}<p class="note" role="alert"></p></form>`,
    `<script>${PASSKEY_SCRIPT}</script>`,
  ]);
}

/** Returns the page for the second factor, which is allowed to run its only script. */
export function asCodePage<Status extends number>(words: PageWords, problem: string | null, status: Status) {
  const headers = {
    ...PAGE_HEADERS,
    "content-security-policy": PAGE_HEADERS["content-security-policy"] + PASSKEY_POLICY,
  };
  return { status, body: codePage(words, problem), headers } satisfies HttpResponse<Status, string>;
}

export function asPage(html: string): HttpResponse<200, string>;
export function asPage<Status extends number>(html: string, status: Status): HttpResponse<Status, string>;
export function asPage(html: string, status = 200): HttpResponse<number, string> {
  return { status, body: html, headers: PAGE_HEADERS };
}

/** Returns a page for an expected error that the endpoint declares. Rethrows everything else, so that it is logged. */
export function errorPage<Page extends Endpoint>(
  words: PageWords,
  { responses }: Page,
  error: unknown,
  write = problemPage,
): ResponseOf<Page> {
  const status = error instanceof AppError ? ERRORS[error.code].status : 500;
  if (!(error instanceof AppError) || !(status in responses)) throw error;
  return asPage(write(words, problemOf(error, words)), status) as ResponseOf<Page>;
}
