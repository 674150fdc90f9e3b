// Writes a logged request as a command for a shell. Pure.

interface LoggedRequest {
  method: string;
  path: string;
  key: string;
  body: unknown;
}

/** Quotes a text for a POSIX shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Returns the command with a variable for the key, which isn't stored. Removed texts of the body have placeholders.
 * @param origin the address of the API
 */
export function asCurl({ method, path, key, body }: LoggedRequest, origin: string): string {
  const variable = key === "public" ? "$POSTLOFT_PUBLIC_KEY" : "$POSTLOFT_SECRET_KEY";
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${quoted(origin + path)}`,
    `-H "Authorization: Bearer ${variable}"`,
    ...(body === null || body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body, null, 2))}`]),
  ];
  return lines.join(" \\\n  ");
}
