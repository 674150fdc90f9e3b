// Gives generators the TypeScript version that oazapfts ships, because version 7, which we use, no longer has the compiler API.
import { registerHooks } from "node:module";

const OAZAPFTS = import.meta.resolve("oazapfts");

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, specifier === "typescript" ? { ...context, parentURL: OAZAPFTS } : context),
});
