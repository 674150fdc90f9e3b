// Extracts the CSV files of a ZIP archive, such as Mailchimp's export, with limits on files and unpacked bytes.
import { fromBufferPromise } from "yauzl";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues, type Wording } from "@postloft/contract/translation.ts";

export interface ArchivedFile {
  name: string;
  bytes: Buffer;
}

export type Unzipped = { files: ArchivedFile[]; problem?: never } | { problem: Wording; files?: never };

const MAX_FILES = LIMITS.importArchiveFiles.value;
const MAX_BYTES = LIMITS.importFileBytes.value;
/** Maximum number of entries, including skipped ones such as folders and macOS metadata. */
const MAX_ENTRIES = 10 * MAX_FILES;
const IS_CSV = /\.(?:csv|tsv|txt)$/i;
const OF_SYSTEMS = /^__MACOSX\/|(?:^|\/)\./;
const OF_WORKBOOKS = /^(?:\[Content_Types\]\.xml|xl\/|content\.xml$|mimetype$)/;

const TOO_LARGE: Unzipped = {
  problem: withValues(
    "The files in the archive have more than {most} bytes in total. Unpack it and send each file separately.",
    { most: MAX_BYTES },
  ),
};

/** Unpacks an archive. Never throws because of the archive's content. */
export async function unzip(archive: Uint8Array): Promise<Unzipped> {
  try {
    return await read(archive);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return {
      problem: withValues("The ZIP archive cannot be read: {why}. Unpack it and send the CSV file itself.", {
        why: error.message,
      }),
    };
  }
}

async function read(archive: Uint8Array): Promise<Unzipped> {
  const zip = await fromBufferPromise(Buffer.from(archive), { lazyEntries: true });
  const files: ArchivedFile[] = [];
  let entries = 0;
  let total = 0;
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileName;
    if (OF_WORKBOOKS.test(name))
      return {
        problem:
          "This is an Excel workbook or a ZIP archive of another kind. Save the sheet as CSV (UTF-8) and send that.",
      };
    if (++entries > MAX_ENTRIES)
      return {
        problem: withValues("The archive has more than {most} entries. Send the CSV file itself.", {
          most: MAX_ENTRIES,
        }),
      };
    if (name.endsWith("/") || OF_SYSTEMS.test(name) || !IS_CSV.test(name)) continue;
    if (files.length === MAX_FILES)
      return {
        problem: withValues("The archive has more than {most} CSV files. Send them in several archives.", {
          most: MAX_FILES,
        }),
      };
    if (entry.isEncrypted())
      return { problem: "The archive has a password. Unpack it and send the CSV file itself." };
    total += entry.uncompressedSize;
    if (total > MAX_BYTES) return TOO_LARGE;
    // The reader rejects a file that is longer than its declared size.
    const chunks: Buffer[] = [];
    for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
    files.push({ name, bytes: Buffer.concat(chunks) });
  }
  return files.length === 0 ? { problem: "The archive has no CSV file." } : { files };
}
