// Gives generators that use the compiler's API the TypeScript that oazapfts brings: version 7, with which we compile, has no such API.
import { registerHooks } from "node:module";

const OAZAPFTS = import.meta.resolve("oazapfts");

registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, specifier === "typescript" ? { ...context, parentURL: OAZAPFTS } : context),
});
