// Helpers to recognize and create nodes of Handlebars' syntax tree. Pure.

/** Returns the path of a variable or helper with a single name. */
export function pathTo(name: string, loc: hbs.AST.SourceLocation): hbs.AST.PathExpression {
  return { type: "PathExpression", data: false, depth: 0, parts: [name], original: name, loc };
}

export function noHash(loc: hbs.AST.SourceLocation): hbs.AST.Hash {
  return { type: "Hash", pairs: [], loc };
}

export function isContent(node: hbs.AST.Node): node is hbs.AST.ContentStatement {
  return node.type === "ContentStatement";
}

export function isMustache(node: hbs.AST.Node): node is hbs.AST.MustacheStatement {
  return node.type === "MustacheStatement";
}

export function isBlock(node: hbs.AST.Node): node is hbs.AST.BlockStatement {
  return node.type === "BlockStatement";
}

export function isSubExpression(node: hbs.AST.Node): node is hbs.AST.SubExpression {
  return node.type === "SubExpression";
}

export function isPath(node: hbs.AST.Node): node is hbs.AST.PathExpression {
  return node.type === "PathExpression";
}

/** Returns the bodies of a block. One of the two is missing in `{{^name}}…{{/name}}` and without `{{else}}`. */
export function bodiesOf(block: hbs.AST.BlockStatement): hbs.AST.Program[] {
  const bodies: Array<hbs.AST.Program | undefined> = [block.program, block.inverse];
  return bodies.filter((body) => body !== undefined);
}
