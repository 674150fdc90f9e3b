// What people are told about their accounts, in French. Before it: account-mails.ts. After it: nothing.
import type { AccountMailTexts } from "./en.ts";

const CHANGE_AT_ONCE =
  "Si ce n’était pas vous, changez tout de suite votre mot de passe : la personne qui l’a fait le connaît.";
const LOOK_AT_ACCOUNT =
  "Si ce n’était pas vous, changez tout de suite votre mot de passe et vérifiez votre compte.";
const LOOK_AT_PASSKEYS =
  "Si ce n’était pas vous, changez tout de suite votre mot de passe et vérifiez les clés d’accès de votre compte.";
const NOT_YOU = "Si ce n’était pas vous, ne faites rien : sans le lien, rien ne change.";

export const FR: AccountMailTexts = {
  verification: {
    subject: "Confirmez votre adresse e-mail",
    body: ({ email }) => `${email} est l’adresse d’un compte, ou doit le devenir. Est-ce la vôtre ?`,
    action: "Oui, c’est la mienne",
    footer: ({ hours }) => `Le lien est valable ${hours} heures. ${NOT_YOU}`,
  },
  knownAddress: {
    subject: "Vous avez déjà un compte",
    body: ({ email }) =>
      `Quelqu’un s’est inscrit avec ${email}, l’adresse de votre compte. Si c’était vous, connectez-vous à ce compte ; si vous avez oublié son mot de passe, vous pourrez y en choisir un nouveau.`,
    action: "Se connecter",
    footer:
      "L’inscription a créé un autre compte, qui ne peut pas recevoir votre adresse. Si ce n’était pas vous, ne faites rien : personne n’accède ainsi à votre compte.",
  },
  passwordReset: {
    subject: "Choisissez un nouveau mot de passe",
    body: ({ email }) => `Un nouveau mot de passe a été demandé pour le compte ${email}.`,
    action: "Choisir un nouveau mot de passe",
    footer: ({ minutes }) => `Le lien fonctionne une seule fois, pendant ${minutes} minutes. ${NOT_YOU}`,
  },
  passwordChanged: {
    subject: "Votre mot de passe a été changé",
    body: ({ email }) =>
      `Le mot de passe du compte ${email} a été changé, et toutes les autres sessions ont pris fin.`,
    footer:
      "Si ce n’était pas vous, demandez tout de suite un nouveau mot de passe : la personne qui l’a fait connaît l’ancien.",
  },
  addressChange: {
    subject: "Un changement de votre adresse e-mail a été demandé",
    body: ({ email, newEmail }) =>
      `Le compte ${email} doit recevoir l’adresse ${newEmail}. Elle change quand le lien du message envoyé là-bas est ouvert.`,
    footer: CHANGE_AT_ONCE,
  },
  secondFactorOn: {
    subject: "Votre second facteur est activé",
    body: ({ email }) =>
      `La connexion au compte ${email} demande désormais un code d’une application d’authentification. Toutes les autres sessions ont pris fin.`,
    footer: CHANGE_AT_ONCE,
  },
  secondFactorOff: {
    subject: "Votre second facteur est désactivé",
    body: ({ email }) => `La connexion au compte ${email} ne demande plus que le mot de passe.`,
    footer: CHANGE_AT_ONCE,
  },
  connected: {
    subject: ({ service }) => `Votre compte est relié à ${service}`,
    body: ({ email, service }) =>
      `Qui se connecte à ${service} sous votre nom entre désormais aussi dans le compte ${email}.`,
    footer: LOOK_AT_ACCOUNT,
  },
  disconnected: {
    subject: ({ service }) => `Votre compte n’est plus relié à ${service}`,
    body: ({ email, service }) => `Plus personne n’entre dans le compte ${email} par ${service}.`,
    footer: LOOK_AT_ACCOUNT,
  },
  passkeyAdded: {
    subject: "Une clé d’accès a été ajoutée à votre compte",
    body: ({ email, name }) =>
      `La clé d’accès « ${name} » permet désormais de se connecter au compte ${email} sans mot de passe.`,
    footer: LOOK_AT_PASSKEYS,
  },
  passkeyRemoved: {
    subject: "Une clé d’accès a été retirée de votre compte",
    body: ({ email, name }) =>
      `La clé d’accès « ${name} » ne permet plus de se connecter au compte ${email}.`,
    footer: LOOK_AT_PASSKEYS,
  },
};
