// Renders a server message and formats names and code between backticks.
import { Fragment } from "react";

export function Said({ children }: { children: string }) {
  // Every second part is inside backticks.
  return children.split("`").map((part, at) =>
    at % 2 === 1 ? (
      // oxlint-disable-next-line react/no-array-index-key -- parts have no identity but their position
      <code key={at} className="font-mono text-[0.92em]">
        {part}
      </code>
    ) : (
      // oxlint-disable-next-line react/no-array-index-key -- parts have no identity but their position
      <Fragment key={at}>{part}</Fragment>
    ),
  );
}
