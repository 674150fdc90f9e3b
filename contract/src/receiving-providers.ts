// Names of receiving providers, for reports and filters.
/** Receiving providers with many domains; all other receivers are `other`. */
export const PROVIDERS = [
  "gmail",
  "microsoft",
  "yahoo",
  "apple",
  "proton",
  "gmx",
  "yandex",
  "mail.ru",
  "other",
] as const;
