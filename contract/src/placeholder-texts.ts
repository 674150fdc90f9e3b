// Placeholder texts in the editor's starting points, in the languages of the dashboard. An email that still contains one is unfinished.

/** By the English text. Tests compare the others with the dashboard's translations. */
export const PLACEHOLDER_TEXTS: Readonly<Record<string, readonly string[]>> = {
  "Write here.": ["Write here.", "Schreiben Sie hier.", "Escriba aquí.", "Écrivez ici."],
  "A heading": ["A heading", "Eine Überschrift", "Un título", "Un titre"],
  "A subject": ["A subject", "Ein Betreff", "Un asunto", "Un objet"],
  "Say in two sentences what is new and why it helps.": [
    "Say in two sentences what is new and why it helps.",
    "Sagen Sie in zwei Sätzen, was neu ist und warum es hilft.",
    "Diga en dos frases qué hay de nuevo y por qué ayuda.",
    "Dites en deux phrases ce qui est nouveau et pourquoi cela aide.",
  ],
};
