// Re-encodes an uploaded image, or explains why it is invalid. Only the decoders of four formats are enabled. libvips uses its own threads.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ImageType } from "@postloft/contract/uploads.ts";
import { withValues, type Wording } from "@postloft/contract/translation.ts";
import type { Metadata, Sharp } from "sharp";

export interface EncodedImage {
  bytes: Buffer;
  type: ImageType;
  width: number;
  /** Height of one frame. */
  height: number;
}

export type Encoding = { ok: true; image: EncodedImage } | { ok: false; problem: Wording };

const DECODERS = [
  "VipsForeignLoadPngBuffer",
  "VipsForeignLoadJpegBuffer",
  "VipsForeignLoadWebpBuffer",
  "VipsForeignLoadNsgifBuffer",
];
const JPEG_QUALITY = 85;
const WEBP_QUALITY = 85;
/** Longer than the largest allowed image takes on a slow machine. */
const TIMEOUT_SECONDS = 20;
const NO_IMAGE = "Must be a PNG, JPEG, GIF or WebP image, regardless of its name.";

type Writer = { type: ImageType; write: (image: Sharp) => Sharp };
const WRITERS: Readonly<Record<string, Writer>> = {
  png: { type: "image/png", write: (image) => image.png() },
  jpeg: { type: "image/jpeg", write: (image) => image.jpeg({ quality: JPEG_QUALITY }) },
  gif: { type: "image/gif", write: (image) => image.gif() },
  webp: { type: "image/webp", write: (image) => image.webp({ quality: WEBP_QUALITY }) },
};

/** Loads sharp with the first image, because it is large and most processes never need it. */
async function loadSharp() {
  const { default: sharp } = await import("sharp");
  sharp.concurrency(1);
  sharp.cache(false);
  sharp.block({ operation: ["VipsForeignLoad"] });
  sharp.unblock({ operation: DECODERS });
  return sharp;
}

/** Detects the format of an image from its content and re-encodes it in that format, upright and without metadata. */
export async function encodeImage(input: Buffer): Promise<Encoding> {
  const sharp = await loadSharp();
  const limits = {
    animated: true,
    failOn: "error",
    limitInputPixels: LIMITS.uploadPixels.value,
  } as const;
  try {
    const metadata = await sharp(input, limits).metadata();
    const writer = WRITERS[metadata.format];
    if (writer === undefined) return { ok: false, problem: NO_IMAGE };
    const problem = faultOf(metadata);
    if (problem !== null) return { ok: false, problem };
    const image = sharp(input, limits).timeout({ seconds: TIMEOUT_SECONDS });
    const upright = isAnimated(metadata) ? image : image.autoOrient();
    const { data, info } = await writer.write(upright).toBuffer({ resolveWithObject: true });
    const height = isAnimated(metadata) ? (metadata.pageHeight ?? info.height) : info.height;
    return { ok: true, image: { bytes: data, type: writer.type, width: info.width, height } };
  } catch (error) {
    return { ok: false, problem: sentenceOf(error) };
  }
}

const isAnimated = ({ pages = 1 }: Metadata) => pages > 1;

function faultOf({ width, height, pages = 1 }: Metadata): Wording | null {
  if (width * height > LIMITS.uploadPixels.value) return TOO_MANY_PIXELS;
  if (pages > LIMITS.uploadFrames.value)
    return withValues("The animation may have at most {most} frames; it has {frames}.", {
      most: LIMITS.uploadFrames.value,
      frames: pages,
    });
  return null;
}

const TOO_MANY_PIXELS = withValues(
  "The image may have at most {most} pixels, all frames together. Make it smaller: emails are rarely wider than 1,200 pixels.",
  { most: LIMITS.uploadPixels.value },
);

/** Converts an error of libvips to a sentence that tells users what to do. */
function sentenceOf(error: unknown): Wording {
  const said = error instanceof Error ? error.message : String(error);
  if (/pixel limit/i.test(said)) return TOO_MANY_PIXELS;
  if (/timeout/i.test(said))
    return "The image takes too long to read. Make it smaller, or save it in another format.";
  if (/unsupported image format|empty/i.test(said)) return NO_IMAGE;
  return damagedImage();
}

export function damagedImage(): Wording {
  return "The image is damaged or incomplete. Open it in an image program and save it again.";
}
