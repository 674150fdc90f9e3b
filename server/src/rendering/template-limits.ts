// The bounds of a template, so small that parsing the worst one takes a moment and not a minute.

/** Characters of a source that holds at least one mustache. */
export const TEMPLATE_LENGTH_MAX_CHARACTERS = 2_000_000;
/** `{{…}}` in one template, comments and block ends included. */
export const MUSTACHES_PER_TEMPLATE_MAX = 1_500;
/** Characters between braces in all mustaches of a template together, comments not counted. */
export const MUSTACHE_CHARACTERS_PER_TEMPLATE_MAX = 25_000;
/** Characters of one mustache, braces included, comments not counted. */
export const MUSTACHE_LENGTH_MAX_CHARACTERS = 4_000;
/** Blocks inside blocks; each `{{else if}}` counts as one, since it is one for the parser. */
export const BLOCK_DEPTH_MAX = 50;
/** Parentheses inside parentheses in one mustache. */
export const PARENTHESES_DEPTH_MAX = 10;
/** Dots and slashes of all paths in one mustache. */
export const PATH_SEPARATORS_PER_MUSTACHE_MAX = 40;
