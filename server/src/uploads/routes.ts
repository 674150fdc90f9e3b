// HTTP routes of images.
import * as contract from "@postloft/contract/uploads.ts";
import { created, noContent, ok, route, type Route } from "../platform/http/route.ts";
import { readPage } from "../platform/http/page.ts";
import { savedName } from "./rules.ts";
import { UPLOADS, type Image, type Uploads } from "./uploads.ts";

/** Prevents browsers from running or embedding the bytes, or from guessing another type. Other sites and emails may show the image. */
const IMAGE_HEADERS = {
  "content-security-policy": "default-src 'none'; sandbox",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "cross-origin",
  "cache-control": "public, max-age=31536000, immutable",
};

export function uploadRoutes(uploads: Uploads): Route[] {
  return [
    route(contract.uploadImage, async ({ projectId, body, commit }) => {
      const prepared = await uploads.prepare(projectId, body.image);
      const response = await commit(async (tx) => created(await uploads.add(tx, prepared)));
      await uploads.settle(prepared, response.body as Image);
      return response;
    }),
    route(contract.listUploads, async ({ projectId, query }) =>
      ok(await uploads.list(projectId, readPage(UPLOADS, query))),
    ),
    route(contract.deleteUnusedUploads, async ({ projectId, commit }) => {
      let paths: string[] = [];
      const response = await commit(async (tx) => {
        const removed = await uploads.removeUnused(tx, projectId);
        paths = removed.paths;
        const { freedBytes, hasMore } = removed;
        return ok({ deleted: paths.length, freedBytes, hasMore });
      });
      await uploads.removeFiles(paths);
      return response;
    }),
    route(contract.updateUpload, async ({ projectId, params, body, commit }) =>
      commit(async (tx) => ok(await uploads.changeAlt(tx, projectId, { ...params, ...body }))),
    ),
    route(contract.deleteUpload, async ({ projectId, params }) => {
      await uploads.remove(projectId, params.key);
      return noContent();
    }),
    route(contract.openImage, async ({ params }) => {
      const { image, file } = await uploads.open(params.key);
      const headers = {
        ...IMAGE_HEADERS,
        "content-type": image.contentType,
        "content-length": String(file.bytes),
        "content-disposition": `inline; filename="${savedName(image.name, image.contentType)}"`,
      };
      return { ...ok(file.stream), headers };
    }),
  ];
}
