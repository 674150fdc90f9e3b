// Errors that pages show in the reader's language. API callers get the same message in English.
import type { IncomingHttpHeaders } from "node:http";
import type { ErrorCode } from "@postloft/contract/errors.ts";
import { acceptedLanguage, type MailLanguage } from "../emails/platform-email/mail-language.ts";
import { AppError } from "../platform/app-error.ts";
import { DE } from "./page-texts/de.ts";
import { EN, type PageTexts } from "./page-texts/en.ts";
import { ES } from "./page-texts/es.ts";
import { FR } from "./page-texts/fr.ts";

const TEXTS: Readonly<Record<MailLanguage, PageTexts>> = { en: EN, de: DE, fr: FR, es: ES };

/** A page's language, and its texts in that language. */
export interface PageWords {
  language: MailLanguage;
  texts: PageTexts;
}

/** Returns the texts in the available language that the browser prefers most. */
export function wordsFor(headers: IncomingHttpHeaders): PageWords {
  const language = acceptedLanguage(headers["accept-language"]);
  return { language, texts: TEXTS[language] };
}

type Problem = (problems: PageTexts["problems"]) => string;

export class PageError extends AppError {
  readonly problem: Problem;

  constructor(code: ErrorCode, problem: Problem) {
    super(code, { message: problem(EN.problems) });
    this.problem = problem;
  }
}

/** Returns the page's message for an error. */
export function problemOf(appError: AppError, { texts }: PageWords): string {
  if (appError instanceof PageError) return appError.problem(texts.problems);
  if (appError.code === "VALIDATION_ERROR") return texts.problems.password;
  const known: Partial<Record<ErrorCode, string>> = texts.refusals;
  return known[appError.code] ?? appError.message;
}
