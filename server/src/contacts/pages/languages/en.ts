// English texts of the public pages and the footer of marketing emails. This file defines the keys. {email} is the masked address,
// {project} the project's name.

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
  invalidTitle: "This link is not valid",
  invalidText: "It may be incomplete. Please open it from the email again.",
  goneTitle: "Nothing is stored about you",
  goneText: "The address this link was made for is no longer stored and receives no newsletters.",
  trialTitle: "This is a test link",
  trialText: "This link came from a test email or a preview, so it doesn't change anything.",
  problemTitle: "Something went wrong",
  problemText: "Nothing was changed. Please try again in a moment.",
  oftenText: "This was changed too often. Please try again later.",
  footerReason: "You are receiving this email because you are subscribed to newsletters from {project}.",
};

/** The texts that every language must have. */
export type PageTexts = Record<keyof typeof en, string>;
