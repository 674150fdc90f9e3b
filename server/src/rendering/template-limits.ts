// Limits of a template, small enough that the worst template parses in a moment instead of a minute.

/** Maximum length of a source that has at least one mustache. */
export const TEMPLATE_LENGTH_MAX_CHARACTERS = 2_000_000;
/** `{{…}}` in one template, including comments and block ends. */
export const MUSTACHES_PER_TEMPLATE_MAX = 1_500;
/** Total length of all mustaches of a template, without comments. */
export const MUSTACHE_CHARACTERS_PER_TEMPLATE_MAX = 25_000;
/** Length of one mustache including braces, without comments. */
export const MUSTACHE_LENGTH_MAX_CHARACTERS = 4_000;
/** Depth of nested blocks. Each `{{else if}}` counts as one because the parser treats it as one. */
export const BLOCK_DEPTH_MAX = 50;
/** Depth of nested parentheses in one mustache. */
export const PARENTHESES_DEPTH_MAX = 10;
/** Dots and slashes of all paths in one mustache. */
export const PATH_SEPARATORS_PER_MUSTACHE_MAX = 40;
