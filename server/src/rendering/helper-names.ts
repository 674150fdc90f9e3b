// Names of the helpers in a template's tree, and the block helpers that authors may use. Data.

/** Names of our own helpers in the tree. No source can name them: NUL is refused by the scanner. */
export const PRINT_HELPER = "\0print";
/** Prints an array as list items. Inside of a tag PRINT_HELPER stands in its place. */
export const PRINT_LIST_HELPER = "\0print-list";
export const PRINT_UNESCAPED_HELPER = "\0print-unescaped";
export const FALLBACK_HELPER = "\0fallback";
/** The word after a `??`: the variable of that name, or else the word itself. */
export const WORD_HELPER = "\0word";

/** Compares values. Its first value is the name of one of COMPARISONS. */
export const COMPARE_HELPER = "\0compare";

/** The block helpers, each of which takes one value, with the options it knows (`includeZero=true`). */
export const BLOCK_HELPERS = new Map<string, readonly string[]>([
  ["if", ["includeZero"]],
  ["unless", ["includeZero"]],
  ["each", []],
  ["with", []],
]);
/** Blocks in which a name still means what it means outside. */
export const TRANSPARENT_HELPERS: ReadonlySet<string> = new Set(["if", "unless"]);
