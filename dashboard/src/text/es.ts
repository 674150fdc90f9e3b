// The dashboard's texts, English to Spanish. The keys are the texts in the code; texts.test.ts finds those that are missing or left over.
export const CATALOGUE: Readonly<Record<string, string>> = {};
