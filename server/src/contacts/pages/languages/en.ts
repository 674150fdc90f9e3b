// English texts of the public pages and the marketing email footer, which define the keys of all languages. {email} is the masked address
// and {project} the project name.

export const en = {
  unsubscribeTitle: "Do you want to unsubscribe?",
  unsubscribeText: "{email} will no longer receive newsletters from {project}.",
  unsubscribeButton: "Unsubscribe",
  unsubscribedTitle: "You are unsubscribed",
  unsubscribedText: "{email} no longer receives newsletters from {project}.",
  accountNote: "Messages about your account or your orders are not affected.",
  keptNote: "This address is no longer in the contact list. It stays unsubscribed if it is added again.",
  undoButton: "Undo",
  subscribeTitle: "Do you want to subscribe?",
  subscribeText: "{email} will receive newsletters from {project}.",
  subscribeButton: "Subscribe",
  subscribedTitle: "You are subscribed",
  subscribedText: "{email} receives newsletters from {project}.",
  manageTitle: "Your subscription",
  manageLink: "Manage your subscription",
  invalidTitle: "This link does not work",
  invalidText: "It is incomplete or not valid. Please open the link in the e-mail again.",
  goneTitle: "Nothing is stored about you",
  goneText: "The address this link was made for is no longer stored here, and it receives no newsletters.",
  trialTitle: "This link is only for show",
  trialText: "It is in a test e-mail or a preview: it belongs to nobody, and nothing changes.",
  problemTitle: "That did not work",
  problemText: "Nothing was changed. Please try again in a moment.",
  oftenText: "This was changed very often. Please try again later.",
  footerReason: "You are receiving this e-mail because you are subscribed to newsletters from {project}.",
};

/** Texts of one language. */
export type PageTexts = Record<keyof typeof en, string>;
