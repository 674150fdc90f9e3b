// Images for template bodies (spec §4.12; docs/decisions/0049-uploads.md): stored once, served to whoever reads a mail.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { cursorList, instant, pageQuery, pathText, uploadedFile } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

/** Where an image can be used. */
export const UPLOAD_USERS = ["TEMPLATE", "TEMPLATE_VERSION", "CAMPAIGN", "LOGO"] as const;

const image = z.object({
  url: z.string().describe("Public: this is what stands in `src`. It never changes."),
  key: z.string().describe("Names the image for `DELETE`; the last part of `url`."),
  filename: z.string().describe("As it was uploaded; of the same image uploaded twice the first name."),
  contentType: z.enum(IMAGE_TYPES),
  size: z.int().describe("Bytes as stored, after it was encoded again."),
});

const stored = image.extend({
  width: z.int().describe("Pixels."),
  height: z.int().describe("Pixels; of an animation one frame."),
  createdAt: instant,
  usedBy: z
    .array(z.object({ type: z.enum(UPLOAD_USERS), id: z.uuid(), name: z.string() }))
    .describe(
      `What shows it by its URL: templates, what they said before as long as it is kept (\`TEMPLATE_VERSION\`, with the \`id\` of the template), campaigns, the project's logo (then \`id\` is the project's). At most ${LIMITS.uploadUsers.value}.`,
    ),
});

const MEGAPIXELS = LIMITS.uploadPixels.value / 1_000_000;

export const uploadImage = endpoint({
  name: "uploads.create",
  method: "POST",
  path: "/uploads/image",
  summary: "Upload an image for template bodies",
  description: `PNG, JPEG, GIF or WebP, told by its content; SVG and everything else is a 422. It is turned upright and encoded again, so metadata such as the place where it was taken is gone; animations stay animated. At most ${LIMITS.uploadFileBytes.value / 1024 / 1024} MB, ${MEGAPIXELS} megapixels (all frames together) and ${LIMITS.uploadFrames.value} frames. The same image uploaded again has the same \`url\`. A project that stores its ${LIMITS.uploadProjectBytes.value / 1024 / 1024} MB is told 409.`,
  caller: "project",
  body: z.object({
    image: uploadedFile.describe(`The image, at most ${LIMITS.uploadFileBytes.value / 1024 / 1024} MB.`),
  }),
  bodyKind: "upload",
  bodyLimitBytes: LIMITS.uploadBodyBytes.value,
  answers: { 201: image },
  errors: ["CONFLICT", "SERVICE_UNAVAILABLE"],
});

export const listUploads = endpoint({
  name: "uploads.list",
  method: "GET",
  path: "/uploads",
  summary: "List uploaded images, newest first, with what uses them",
  description: "`POST /uploads/delete-unused` deletes those that nothing uses.",
  caller: "project",
  query: pageQuery,
  answers: {
    200: cursorList(stored).extend({ storedBytes: z.int().describe("Of all images, not only this page.") }),
  },
});

export const deleteUnusedUploads = endpoint({
  name: "uploads.deleteUnused",
  method: "POST",
  path: "/uploads/delete-unused",
  summary: "Delete the images that nothing uses",
  description: `Neither a template or a former version of one that is kept, nor a campaign, nor the logo shows them by their URL. Images that were uploaded, or uploaded again, in the last ${LIMITS.uploadGraceHours.value} hours stay: somebody may be writing the template. Mail that was sent with such an image, and HTML given to \`POST /v1/send\`, shows it no more. One request deletes up to ${LIMITS.uploadsDeleted.value}; \`hasMore\` says that there are more.`,
  caller: "project",
  leastRole: "ADMIN",
  answers: { 200: z.object({ deleted: z.int(), freedBytes: z.int(), hasMore: z.boolean() }) },
});

export const deleteUpload = endpoint({
  name: "uploads.delete",
  method: "DELETE",
  path: "/uploads/:key",
  summary: "Delete an image",
  description:
    "Refused with 409, naming what uses it, while a template, a former version of one, a campaign or the logo shows it. Mail that was sent with it shows it no more.",
  caller: "project",
  params: z.object({ key: pathText }),
  answers: { 204: null },
  errors: ["UPLOAD_NOT_FOUND", "CONFLICT"],
});

export const openImage = endpoint({
  name: "uploads.open",
  method: "GET",
  path: "/images/:key",
  summary: "An uploaded image, for whoever reads the mail",
  description:
    "Needs no key. Its name cannot be guessed, and it may be kept by browsers and proxies for ever; an image that was deleted is a 404.",
  caller: "anyone",
  params: z.object({ key: pathText }),
  envelope: "raw",
  contentType: "image/*",
  answers: { 200: z.string() },
  errors: ["UPLOAD_NOT_FOUND", "SERVICE_UNAVAILABLE"],
});
