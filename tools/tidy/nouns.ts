// Keeps the files about a noun together: a noun is in the names of files of few folders.
import { posix } from "node:path";
import { folderOf, READING_ORDER } from "./reading-order.ts";
import { isTest, type Rule, type Tree } from "./tree.ts";

/** The maximum number of server folders with files named after the same noun. */
const FOLDERS_OF_A_NOUN = 4;

export const nounsTogether: Rule = {
  name: `a noun is in at most ${FOLDERS_OF_A_NOUN} folders of the server`,
  check: (tree) =>
    nounsOf(tree)
      .filter(({ folders }) => folders.length > FOLDERS_OF_A_NOUN)
      .map(({ noun, folders }) => ({
        path: `server/src/${noun}`,
        message: `has its word in the names of files in ${folders.join(", ")}. Move the files about it into one folder.`,
      })),
};

/** Returns for each server folder the folders with a file or subfolder named after it, in singular or plural. */
function nounsOf(tree: Tree): { noun: string; folders: string[] }[] {
  const paths = tree.sources.map(({ path }) => path).filter((path) => !isTest(path));
  return READING_ORDER.filter((noun) => noun !== "platform").map((noun) => {
    const forms = new Set([noun, noun.replace(/ies$/, "y"), noun.replace(/s$/, "")]);
    const folders = paths.flatMap((path) => {
      const folder = folderOf(path);
      const words = posix.relative("server/src", path).split(/[-./]/);
      return folder !== undefined && words.some((word) => forms.has(word)) ? [folder] : [];
    });
    return { noun, folders: [...new Set(folders)].toSorted() };
  });
}
