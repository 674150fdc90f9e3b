// Who may call, as OpenAPI says it: keys, sessions, the token of the installation.
import type { CallerKind } from "../endpoint.ts";

type Json = Record<string, unknown>;

const SESSION_WITH_PROJECT = { session: [], project: [] };

/** What each kind of caller shows, one of the alternatives. */
export const SECURITY: Readonly<Record<CallerKind, readonly Json[]>> = {
  anyone: [],
  tracker: [{ publicKey: [] }, { secretKey: [] }, SESSION_WITH_PROJECT],
  project: [{ secretKey: [] }, SESSION_WITH_PROJECT],
  "project-by-path": [{ secretKey: [] }, { session: [] }],
  member: [{ session: [] }],
  session: [{ session: [] }],
  operator: [{ session: [] }, { operatorToken: [] }],
};

/** How each of it is sent. */
export function securitySchemes(serverUrl: string): Json {
  // The names that server/src/users/sessions.ts gives the cookie.
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
    session: {
      type: "apiKey",
      in: "cookie",
      name: cookie,
      description:
        "Set by `POST /auth/login`; `__Host-postloft_session` where the service is reached by https.",
    },
    operatorToken: {
      type: "http",
      scheme: "bearer",
      description: "The token that the service printed when it started (`op_…`).",
    },
    project: {
      type: "apiKey",
      in: "header",
      name: "X-Project-Id",
      description: "The project a session speaks for.",
    },
  };
}
