// Names of the helpers in a template's tree, and of the block helpers authors may use. Data.

/** Names of internal helpers in the tree. Templates cannot call them because the scanner rejects NUL. */
export const PRINT_HELPER = "\0print";
/** Prints an array as list items. PRINT_HELPER is used instead inside a tag. */
export const PRINT_LIST_HELPER = "\0print-list";
export const PRINT_UNESCAPED_HELPER = "\0print-unescaped";
export const FALLBACK_HELPER = "\0fallback";
/** Handles the word after a `??`: returns the variable with that name, or the word itself if there is none. */
export const WORD_HELPER = "\0word";

/** Compares values. The first argument is the name of an entry in COMPARISONS. */
export const COMPARE_HELPER = "\0compare";

/** Block helpers, each taking one value, with their allowed options (`includeZero=true`). */
export const BLOCK_HELPERS = new Map<string, readonly string[]>([
  ["if", ["includeZero"]],
  ["unless", ["includeZero"]],
  ["each", []],
  ["with", []],
]);
/** Blocks that do not change the meaning of names inside them. */
export const TRANSPARENT_HELPERS: ReadonlySet<string> = new Set(["if", "unless"]);
