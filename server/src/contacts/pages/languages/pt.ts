// Portuguese texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const pt: PageTexts = {
  unsubscribeTitle: "Deseja cancelar a subscrição?",
  unsubscribeText: "{email} deixará de receber as newsletters de {project}.",
  unsubscribeButton: "Cancelar subscrição",
  unsubscribedTitle: "A subscrição foi cancelada",
  unsubscribedText: "{email} já não recebe as newsletters de {project}.",
  accountNote: "As mensagens sobre a sua conta ou as suas encomendas não são afetadas.",
  keptNote:
    "Este endereço já não está na lista de contactos. Continuará sem subscrição mesmo que volte a ser adicionado.",
  undoButton: "Desfazer",
  subscribeTitle: "Deseja subscrever?",
  subscribeText: "{email} passará a receber as newsletters de {project}.",
  subscribeButton: "Subscrever",
  subscribedTitle: "A subscrição está ativa",
  subscribedText: "{email} recebe as newsletters de {project}.",
  manageTitle: "A sua subscrição",
  manageLink: "Gerir a subscrição",
  invalidTitle: "Este link não funciona",
  invalidText: "Está incompleto ou não é válido. Abra novamente o link a partir do e-mail.",
  goneTitle: "Não há dados guardados sobre si",
  goneText: "O endereço para o qual este link foi criado já não está guardado aqui e não recebe newsletters.",
  trialTitle: "Este link é apenas um exemplo",
  trialText: "Está num e-mail de teste ou numa pré-visualização: não pertence a ninguém e não altera nada.",
  problemTitle: "Não funcionou",
  problemText: "Nada foi alterado. Tente novamente dentro de momentos.",
  oftenText: "Isto foi alterado muitas vezes. Tente novamente mais tarde.",
  footerReason: "Recebeu este e-mail porque subscreveu as newsletters de {project}.",
};
