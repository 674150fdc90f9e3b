// The OpenAPI security schemes: keys, sessions, the instance token.
import type { CallerKind } from "../endpoint.ts";

type Json = Record<string, unknown>;

const SESSION_WITH_PROJECT = { sessionCookie: [], projectHeader: [] };

/** The credentials of each caller kind; one alternative is enough. No credential has the name of a schema, because generators name both alike. */
export const SECURITY: Readonly<Record<CallerKind, readonly Json[]>> = {
  anyone: [],
  tracker: [{ publicKey: [] }, { secretKey: [] }, SESSION_WITH_PROJECT],
  project: [{ secretKey: [] }, SESSION_WITH_PROJECT],
  "project-by-path": [{ secretKey: [] }, { sessionCookie: [] }],
  member: [{ sessionCookie: [] }],
  session: [{ sessionCookie: [] }],
  operator: [{ sessionCookie: [] }, { operatorToken: [] }],
};

/** Returns the definition of each credential. */
export function securitySchemes(serverUrl: string): Json {
  // server/src/users/sessions.ts defines these cookie names.
  const cookie = serverUrl.startsWith("https:") ? "__Host-postloft_session" : "postloft_session";
  return {
    secretKey: {
      type: "http",
      scheme: "bearer",
      description: "The secret key of a project (`sk_…`); for servers only.",
    },
    publicKey: {
      type: "http",
      scheme: "bearer",
      description: "The public key of a project (`pk_…`); for browsers and apps, tracks events only.",
    },
    sessionCookie: {
      type: "apiKey",
      in: "cookie",
      name: cookie,
      description: "Set by `POST /auth/login`; named `__Host-postloft_session` if the service uses https.",
    },
    operatorToken: {
      type: "http",
      scheme: "bearer",
      description: "The token printed when the service started (`op_…`).",
    },
    projectHeader: {
      type: "apiKey",
      in: "header",
      name: "X-Project-Id",
      description: "The project of a session's request.",
    },
  };
}
