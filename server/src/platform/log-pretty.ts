// Formats a log line for people, with time, level and message first, then the rest as name=value and an error's trace below.

const COLOURS: Readonly<Record<string, number>> = { debug: 90, info: 36, warn: 33, error: 31, fatal: 31 };

/** Returns the formatted line. @param line one JSON object, as the log writes it */
export function prettyLine(line: string, coloured: boolean): string {
  const { level, time, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const word = String(level);
  const paint = (text: string, colour: number) => (coloured ? `\u001b[${colour}m${text}\u001b[0m` : text);
  const { stack, message, code } = Object(err) as { stack?: unknown; message?: unknown; code?: unknown };
  const isShort = stack === undefined && typeof message === "string";
  const fields = Object.entries(
    isShort ? { ...rest, error: message, ...(code !== undefined && { code }) } : rest,
  ).map(([name, value]) => `${name}=${textOf(value)}`);
  const head = [
    paint(String(time).slice(11, 23), 90),
    paint(word.toUpperCase().padEnd(5), COLOURS[word] ?? 0),
    String(msg),
    ...(fields.length === 0 ? [] : [paint(fields.join(" "), 90)]),
  ];
  return `${head.join(" ")}${err === undefined || isShort ? "" : `\n${traceOf(err)}`}\n`;
}

function textOf(value: unknown): string {
  return typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function traceOf(error: unknown): string {
  const { stack, message, code } = Object(error) as { stack?: unknown; message?: unknown; code?: unknown };
  const text = typeof stack === "string" ? stack : String(message ?? JSON.stringify(error));
  const lines = code === undefined ? text : `${text}\ncode ${String(code)}`;
  return `    ${lines.replaceAll("\n", "\n    ")}`;
}
