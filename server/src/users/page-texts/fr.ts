// Account pages that work without the dashboard, in French.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { PageTexts } from "./en.ts";

const { passwordMinimum, passwordMaximum } = LIMITS;

export const FR: PageTexts = {
  verify: {
    title: "Confirmez votre adresse e-mail",
    about:
      "Vous avez ouvert un lien d’un e-mail envoyé à cette adresse. Confirmez que l’adresse est la vôtre.",
    action: "Confirmer l’adresse e-mail",
  },
  verified: {
    title: "Confirmée",
    about: ({ email }) => `${email} est confirmée. Vous pouvez fermer cette page.`,
  },
  signUp: {
    title: "Créez votre compte",
    label: "Choisissez un mot de passe",
    action: "Créer le compte",
    note: "Le compte est créé avec l’adresse à laquelle ce lien a été envoyé.",
  },
  signedUp: {
    title: "Votre compte est prêt",
    about: ({ email }) => `Le compte ${email} a été créé.`,
    action: "Se connecter",
  },
  reset: {
    title: "Définir un nouveau mot de passe",
    label: "Nouveau mot de passe",
    action: "Définir le mot de passe",
    note: "Vous serez déconnecté partout.",
  },
  resetDone: {
    title: "Mot de passe défini",
    about: "Connectez-vous avec le nouveau mot de passe. Vous pouvez fermer cette page.",
  },
  problem: { title: "Cela n’a pas fonctionné" },
  code: {
    title: "Authentification à deux facteurs",
    label: "Code de l’application, ou code de récupération",
    action: "Se connecter",
    passkey: "Utiliser plutôt une clé d’accès",
    noPasskey: "Aucune clé d’accès n’a été choisie, ou cela a pris trop de temps.",
  },
  refusals: {
    TOKEN_INVALID: "Ce lien n’est plus valable. Demandez-en un nouveau.",
    RATE_LIMIT_EXCEEDED: "Trop de tentatives. Attendez un peu, puis réessayez.",
    SIGNUPS_DISABLED: "Personne ne peut créer de compte ici.",
    UNAUTHORIZED: "Connectez-vous d’abord, puis réessayez.",
  },
  problems: {
    password: `Choisissez un autre mot de passe : de ${passwordMinimum.value} à ${passwordMaximum.value} caractères, pas l’un des plus courants, ni votre adresse, ni Postloft, ni le nom d’un projet.`,
    addressTaken: "Cette adresse e-mail a déjà un compte. Connectez-vous.",
    staleFlow: "Cette connexion a expiré ou a été commencée dans un autre navigateur. Recommencez.",
    noSuchService: "La connexion par ce service n’est pas activée.",
    oldSession: "Déconnectez-vous et reconnectez-vous, puis associez le service dans l’heure.",
    notThisPasskey:
      "Cette clé d’accès appartient à un autre compte. Essayez-en une autre ou saisissez un code.",
    wrongCode: "Le code est faux, ou a déjà servi.",
    oddId: ({ service }) => `${service} a renvoyé un identifiant non valable.`,
    unproved: ({ service }) =>
      `${service} n’a pas d’adresse e-mail vérifiée de vous. Vérifiez la vôtre là-bas, puis réessayez.`,
    denied: ({ service }) => `Vous n’avez pas permis à ${service} de vous connecter.`,
    refused: ({ service }) => `${service} a refusé de vous connecter. Réessayez.`,
    staleAnswer: ({ service }) => `La réponse de ${service} n’est pas valable ou a expiré. Recommencez.`,
    unreachable: ({ service }) =>
      `${service} est injoignable ou ne répond pas correctement. Réessayez dans une minute.`,
    unconfirmed: ({ email }) =>
      `Le compte ${email} n’a jamais confirmé son adresse. Connectez-vous avec son mot de passe et confirmez d’abord l’adresse, ou demandez à l’administration de ce serveur.`,
    otherAccount: ({ service }) =>
      `Ce compte ${service} est associé à un autre compte Postloft. Connectez-vous à celui-ci ou dissociez-le là-bas.`,
  },
};
