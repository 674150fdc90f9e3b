// Images for emails (spec §4.12; docs/decisions/0049-uploads.md), stored once and served to recipients.
import { z } from "zod";
import { endpoint } from "./endpoint.ts";
import { cursorList, hasControlCharacters, instant, pageQuery, pathText, uploadedFile } from "./field.ts";
import { LIMITS } from "./limits/limits.ts";

export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

/** Places where an image can be used. */
export const UPLOAD_USERS = ["TEMPLATE", "TEMPLATE_VERSION", "CAMPAIGN", "LOGO"] as const;

export const image = z.object({
  url: z.string().describe("The public URL for `src`. It never changes."),
  key: z.string().describe("The image's key for `DELETE`, which is the last part of `url`."),
  filename: z
    .string()
    .describe("The uploaded file name; the first one if the same image was uploaded twice."),
  contentType: z.enum(IMAGE_TYPES),
  size: z.int().describe("Stored size in bytes, after re-encoding."),
  width: z.int().describe("Pixels."),
  height: z.int().describe("In pixels, for one frame of an animation."),
  alt: z.string().describe("The text that the dashboard proposes as alt text; empty for none."),
});

export const storedImage = image.extend({
  createdAt: instant,
  usedBy: z
    .array(z.object({ type: z.enum(UPLOAD_USERS), id: z.uuid(), name: z.string() }))
    .describe(
      `Uses of its URL: templates, their kept previous versions (\`TEMPLATE_VERSION\`, with the \`id\` of the template), campaigns, the project's logo (then \`id\` is the project's). Up to ${LIMITS.uploadUsers.value}.`,
    ),
});

const MEGAPIXELS = LIMITS.uploadPixels.value / 1_000_000;

export const uploadImage = endpoint({
  name: "uploads.create",
  method: "POST",
  path: "/uploads/image",
  summary: "Upload an image for template bodies",
  description: `PNG, JPEG, GIF or WebP, detected by content; SVG and everything else returns 422. The image is rotated upright and re-encoded, which removes metadata such as its location; animations stay animated. Up to ${LIMITS.uploadFileBytes.value / 1024 / 1024} MB, ${MEGAPIXELS} megapixels (all frames together) and ${LIMITS.uploadFrames.value} frames. Uploading the same image again returns the same \`url\`. 409 if the project already stores ${LIMITS.uploadProjectBytes.value / 1024 / 1024} MB.`,
  caller: "project",
  body: z.object({
    image: uploadedFile.describe(`The image, up to ${LIMITS.uploadFileBytes.value / 1024 / 1024} MB.`),
  }),
  bodyKind: "upload",
  bodyLimitBytes: LIMITS.uploadBodyBytes.value,
  responses: { 201: image },
  errors: ["CONFLICT", "SERVICE_UNAVAILABLE"],
});

export const listUploads = endpoint({
  name: "uploads.list",
  method: "GET",
  path: "/uploads",
  summary: "List uploaded images with their uses, newest first",
  description: "`POST /uploads/delete-unused` deletes unused images.",
  caller: "project",
  query: pageQuery,
  responses: {
    200: cursorList(storedImage).extend({
      storedBytes: z.int().describe("Total of all images, not only this page."),
    }),
  },
});

export const deleteUnusedUploads = endpoint({
  name: "uploads.deleteUnused",
  method: "POST",
  path: "/uploads/delete-unused",
  summary: "Delete unused images",
  description: `Deletes images whose URL is not used by a template, a kept previous version, a campaign or the logo. Images uploaded in the last ${LIMITS.uploadGraceHours.value} hours are kept, because someone may be working on a template. Sent emails with a deleted image, and HTML passed to \`POST /v1/send\`, no longer show it. One request deletes up to ${LIMITS.uploadsDeleted.value}; \`hasMore\` is true if there are more.`,
  caller: "project",
  leastRole: "ADMIN",
  responses: { 200: z.object({ deleted: z.int(), freedBytes: z.int(), hasMore: z.boolean() }) },
});

export const updateUpload = endpoint({
  name: "uploads.update",
  method: "PATCH",
  path: "/uploads/:key",
  summary: "Change the alt text of an image",
  description: "Emails that show the image keep theirs.",
  caller: "project",
  params: z.object({ key: pathText }),
  body: z.object({
    alt: z
      .string()
      .trim()
      .max(LIMITS.uploadAltLength.value)
      .refine((text) => !hasControlCharacters(text), {
        message: "Must not contain control characters.",
        params: { code: "invalid_string" },
      }),
  }),
  unknownFields: "refused-unless-returned",
  responses: { 200: image },
  errors: ["UPLOAD_NOT_FOUND"],
});

export const deleteUpload = endpoint({
  name: "uploads.delete",
  method: "DELETE",
  path: "/uploads/:key",
  summary: "Delete an image",
  description:
    "Fails with 409 and a list of uses while a template, a previous version, a campaign or the logo shows the image. Sent emails no longer show a deleted image.",
  caller: "project",
  params: z.object({ key: pathText }),
  responses: { 204: null },
  errors: ["UPLOAD_NOT_FOUND", "CONFLICT"],
});

export const openImage = endpoint({
  name: "uploads.open",
  method: "GET",
  path: "/images/:key",
  summary: "Return an uploaded image for recipients",
  description:
    "Needs no key. Its name cannot be guessed, and browsers and proxies can cache it permanently. A deleted image returns 404.",
  caller: "anyone",
  params: z.object({ key: pathText }),
  envelope: "raw",
  contentType: "image/*",
  responses: { 200: z.string() },
  errors: ["UPLOAD_NOT_FOUND", "SERVICE_UNAVAILABLE"],
});
