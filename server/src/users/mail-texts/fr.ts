// Emails about accounts, in French.
import type { Place } from "../place.ts";
import type { AccountMailTexts } from "./en.ts";

const at = ({ device, ip }: Place) => `${device ?? "appareil inconnu"}, adresse IP ${ip ?? "inconnue"}`;
const IGNORE = "Si ce n’était pas vous, ignorez cet e-mail.";
const SECURE = "Si ce n’était pas vous, changez tout de suite votre mot de passe et vérifiez votre compte.";
const ONCE = (hours: string) => `Le lien fonctionne une seule fois, pendant ${hours} heures.`;
const NOT_YOURS = "Si vous n’avez pas créé ce compte, ne le confirmez pas.";

export const FR: AccountMailTexts = {
  signUp: ({ email, place, hours }) => ({
    subject: "Créez votre compte Postloft",
    blocks: [
      `Quelqu’un veut créer un compte Postloft pour ${email} (${at(place)}).`,
      "Si c’était vous, choisissez un mot de passe pour le créer.",
    ],
    label: "Choisir un mot de passe",
    footer: `${ONCE(hours)} ${IGNORE} Sans le lien, aucun compte n’est créé.`,
  }),
  knownAddress: ({ email, place, resetUrl }) => ({
    subject: "Vous avez déjà un compte Postloft",
    blocks: [
      `Quelqu’un a essayé de s’inscrire avec ${email} (${at(place)}). Cette adresse a déjà un compte, rien n’a donc été créé.`,
      `Si c’était vous, connectez-vous. Si vous avez oublié votre mot de passe, réinitialisez-le : ${resetUrl}`,
    ],
    label: "Se connecter",
    footer: IGNORE,
  }),
  verifyNew: ({ email, place, hours }) => ({
    subject: "Confirmez votre adresse e-mail",
    blocks: [
      `Un compte Postloft a été créé pour ${email} (${at(place)}). Confirmez que cette adresse est la vôtre.`,
    ],
    label: "Confirmer l’adresse e-mail",
    footer: `${ONCE(hours)} ${NOT_YOURS}`,
  }),
  verifyAgain: ({ email, place, hours }) => ({
    subject: "Confirmez votre adresse e-mail",
    blocks: [
      `Le compte ${email} a demandé à confirmer son adresse (${at(place)}). Confirmez que cette adresse est la vôtre.`,
    ],
    label: "Confirmer l’adresse e-mail",
    footer: `${ONCE(hours)} ${NOT_YOURS}`,
  }),
  verifyChange: ({ email, place, hours, newEmail }) => ({
    subject: "Confirmez votre nouvelle adresse e-mail",
    blocks: [
      `Le compte Postloft ${email} a demandé à changer son adresse e-mail en ${newEmail} (${at(place)}).`,
      "Ne confirmez que si le compte est le vôtre.",
    ],
    label: "Confirmer l’adresse e-mail",
    footer: `${ONCE(hours)} ${IGNORE}`,
  }),
  addressChange: ({ email, place, newEmail }) => ({
    subject: "Votre adresse e-mail va changer",
    blocks: [
      `Quelqu’un a demandé à changer l’adresse e-mail de votre compte de ${email} en ${newEmail} (${at(place)}). Elle change quand la nouvelle adresse est confirmée.`,
    ],
    footer: SECURE,
  }),
  passwordReset: ({ email, place, minutes }) => ({
    subject: "Réinitialisez votre mot de passe",
    blocks: [`Quelqu’un a demandé un nouveau mot de passe pour le compte ${email} (${at(place)}).`],
    label: "Choisir un nouveau mot de passe",
    footer: `Le lien fonctionne une seule fois, pendant ${minutes} minutes. ${IGNORE} Votre mot de passe ne change pas.`,
  }),
  unconfirmedReset: ({ email, place }) => ({
    subject: "Votre mot de passe ne peut pas être réinitialisé par e-mail",
    blocks: [
      `Quelqu’un a demandé un nouveau mot de passe pour le compte ${email} (${at(place)}). Son adresse n’a jamais été confirmée, nous ne savons donc pas qui l’a créé.`,
      "Si vous l’avez créé, connectez-vous et confirmez l’adresse, ou demandez un nouveau mot de passe à l’administration de ce serveur (npm run admin -- reset-password).",
    ],
    footer: IGNORE,
  }),
  passwordChanged: ({ email }) => ({
    subject: "Votre mot de passe a été changé",
    blocks: [`Le mot de passe du compte ${email} a été changé. Toutes les autres sessions ont pris fin.`],
    footer:
      "Si ce n’était pas vous, réinitialisez tout de suite votre mot de passe. La personne qui l’a fait connaissait l’ancien.",
  }),
  newSignIn: ({ email, place, at: when }) => ({
    subject: "Nouvelle connexion à votre compte",
    blocks: [`Votre compte ${email} a été utilisé sur un nouvel appareil le ${when} : ${at(place)}.`],
    footer:
      "Si ce n’était pas vous, changez tout de suite votre mot de passe. Cela met fin à toutes les autres sessions.",
  }),
  secondFactorOn: ({ email }) => ({
    subject: "L’authentification à deux facteurs est activée",
    blocks: [
      `La connexion au compte ${email} demande désormais un code d’une application d’authentification. Toutes les autres sessions ont pris fin.`,
    ],
    footer: SECURE,
  }),
  secondFactorOff: ({ email }) => ({
    subject: "L’authentification à deux facteurs est désactivée",
    blocks: [`La connexion au compte ${email} ne demande plus que le mot de passe.`],
    footer: SECURE,
  }),
  recoveryCodesRenewed: ({ email }) => ({
    subject: "Vos codes de récupération ont été remplacés",
    blocks: [`Le compte ${email} a de nouveaux codes de récupération. Les précédents ne fonctionnent plus.`],
    footer: SECURE,
  }),
  connected: ({ email, service }) => ({
    subject: `Votre compte est relié à ${service}`,
    blocks: [`Vous pouvez désormais vous connecter au compte ${email} avec ${service}.`],
    footer: SECURE,
  }),
  disconnected: ({ email, service }) => ({
    subject: `Votre compte n’est plus relié à ${service}`,
    blocks: [`${service} ne permet plus de se connecter au compte ${email}.`],
    footer: SECURE,
  }),
  passkeyAdded: ({ email, name }) => ({
    subject: "Une clé d’accès a été ajoutée à votre compte",
    blocks: [
      `La clé d’accès « ${name} » permet désormais de se connecter au compte ${email}, sans mot de passe.`,
    ],
    footer: SECURE,
  }),
  passkeyRemoved: ({ email, name }) => ({
    subject: "Une clé d’accès a été retirée de votre compte",
    blocks: [`La clé d’accès « ${name} » ne permet plus de se connecter au compte ${email}.`],
    footer: SECURE,
  }),
  accountDeleted: ({ email, place }) => ({
    subject: "Votre compte a été supprimé",
    blocks: [`Le compte Postloft ${email} a été supprimé (${at(place)}).`],
    footer: "Si ce n’était pas vous, prévenez l’administration de ce serveur.",
  }),
};
