// French texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const fr: PageTexts = {
  unsubscribeTitle: "Voulez-vous vous désabonner ?",
  unsubscribeText: "{email} ne recevra plus les newsletters de {project}.",
  unsubscribeButton: "Se désabonner",
  unsubscribedTitle: "Votre abonnement est résilié",
  unsubscribedText: "{email} ne reçoit plus les newsletters de {project}.",
  accountNote: "Les messages concernant votre compte ou vos commandes ne sont pas concernés.",
  keptNote:
    "Cette adresse ne figure plus dans la liste de contacts. Elle restera désabonnée même si elle est ajoutée à nouveau.",
  undoButton: "Annuler",
  subscribeTitle: "Voulez-vous vous abonner ?",
  subscribeText: "{email} recevra les newsletters de {project}.",
  subscribeButton: "S’abonner",
  subscribedTitle: "Votre abonnement est actif",
  subscribedText: "{email} reçoit les newsletters de {project}.",
  manageTitle: "Votre abonnement",
  manageLink: "Gérer votre abonnement",
  invalidTitle: "Ce lien ne fonctionne pas",
  invalidText: "Il est incomplet ou n’est pas valide. Veuillez rouvrir le lien depuis l’e-mail.",
  goneTitle: "Aucune donnée ne vous concerne ici",
  goneText:
    "L’adresse pour laquelle ce lien a été créé n’est plus enregistrée ici et ne reçoit plus de newsletters.",
  trialTitle: "Ce lien n’est qu’un exemple",
  trialText: "Il figure dans un e-mail de test ou un aperçu : il n’appartient à personne et ne modifie rien.",
  problemTitle: "Cela n’a pas fonctionné",
  problemText: "Rien n’a été modifié. Veuillez réessayer dans un instant.",
  oftenText: "Cela a été modifié très souvent. Veuillez réessayer plus tard.",
  footerReason: "Vous recevez cet e-mail car votre adresse est abonnée aux newsletters de {project}.",
};
