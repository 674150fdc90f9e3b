// Endpoints for the signed-in user's account.
import type * as account from "@postloft/contract/account.ts";
import type * as oauth from "@postloft/contract/oauth.ts";
import type * as passkeys from "@postloft/contract/passkeys.ts";
import type * as secondFactor from "@postloft/contract/second-factor.ts";
import type * as users from "@postloft/contract/users.ts";
import { bare, wrapped } from "./address.ts";

export const updateMe = bare<typeof users.updateMe>("PATCH", "/users/@me");
export const changePassword = bare<typeof account.changePassword>("POST", "/users/@me/password");
export const changeEmail = bare<typeof account.changeEmail>("POST", "/users/@me/email");
export const requestVerification = wrapped<typeof account.requestVerification>(
  "POST",
  "/auth/request-verification",
);
export const deleteAccount = bare<typeof account.deleteAccount>("DELETE", "/users/@me");
export const listSessions = bare<typeof account.listSessions>("GET", "/users/@me/sessions");
export const endSession = bare<typeof account.endSession>("DELETE", "/users/@me/sessions/:sessionId");
export const endOtherSessions = bare<typeof account.endOtherSessions>("DELETE", "/users/@me/sessions");
export const getOauthConfig = wrapped<typeof oauth.getOauthConfig>("GET", "/auth/oauth-config");
export const listIdentities = bare<typeof oauth.listIdentities>("GET", "/users/@me/identities");
export const removeIdentity = bare<typeof oauth.removeIdentity>(
  "DELETE",
  "/users/@me/identities/:identityId",
);
export const askPasskey = wrapped<typeof passkeys.askPasskey>("POST", "/auth/passkey-options");
export const logInByPasskey = wrapped<typeof passkeys.logInByPasskey>("POST", "/auth/passkey-login");
export const listPasskeys = bare<typeof passkeys.listPasskeys>("GET", "/users/@me/passkeys");
export const beginPasskey = bare<typeof passkeys.beginPasskey>("POST", "/users/@me/passkeys/options");
export const addPasskey = bare<typeof passkeys.addPasskey>("POST", "/users/@me/passkeys");
export const renamePasskey = bare<typeof passkeys.renamePasskey>("PATCH", "/users/@me/passkeys/:passkeyId");
export const removePasskey = bare<typeof passkeys.removePasskey>("DELETE", "/users/@me/passkeys/:passkeyId");
export const getSecondFactor = bare<typeof secondFactor.getSecondFactor>("GET", "/users/@me/second-factor");
export const beginSecondFactor = bare<typeof secondFactor.beginSecondFactor>(
  "POST",
  "/users/@me/second-factor",
);
export const confirmSecondFactor = bare<typeof secondFactor.confirmSecondFactor>(
  "POST",
  "/users/@me/second-factor/confirm",
);
export const renewRecoveryCodes = bare<typeof secondFactor.renewRecoveryCodes>(
  "POST",
  "/users/@me/second-factor/recovery-codes",
);
export const endSecondFactor = bare<typeof secondFactor.endSecondFactor>(
  "POST",
  "/users/@me/second-factor/end",
);
