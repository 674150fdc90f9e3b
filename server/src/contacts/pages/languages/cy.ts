// Welsh texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const cy: PageTexts = {
  unsubscribeTitle: "Ydych chi am ddad-danysgrifio?",
  unsubscribeText: "Ni fydd {email} yn derbyn cylchlythyrau gan {project} mwyach.",
  unsubscribeButton: "Dad-danysgrifio",
  unsubscribedTitle: "Rydych wedi dad-danysgrifio",
  unsubscribedText: "Nid yw {email} yn derbyn cylchlythyrau gan {project} mwyach.",
  accountNote: "Nid yw hyn yn effeithio ar negeseuon am eich cyfrif neu eich archebion.",
  keptNote:
    "Nid yw’r cyfeiriad hwn ar y rhestr gysylltiadau bellach. Bydd yn aros heb danysgrifiad os caiff ei ychwanegu eto.",
  undoButton: "Dadwneud",
  subscribeTitle: "Ydych chi am danysgrifio?",
  subscribeText: "Bydd {email} yn derbyn cylchlythyrau gan {project}.",
  subscribeButton: "Tanysgrifio",
  subscribedTitle: "Rydych wedi tanysgrifio",
  subscribedText: "Mae {email} yn derbyn cylchlythyrau gan {project}.",
  manageTitle: "Eich tanysgrifiad",
  manageLink: "Rheoli eich tanysgrifiad",
  invalidTitle: "Nid yw’r ddolen hon yn gweithio",
  invalidText: "Mae’n anghyflawn neu’n annilys. Agorwch y ddolen yn yr e-bost eto.",
  goneTitle: "Nid oes dim wedi’i gadw amdanoch chi",
  goneText:
    "Nid yw’r cyfeiriad y gwnaed y ddolen hon ar ei gyfer yn cael ei gadw yma bellach, ac nid yw’n derbyn cylchlythyrau.",
  trialTitle: "Dolen enghreifftiol yw hon",
  trialText: "Daw o e-bost prawf neu o ragolwg: nid yw’n perthyn i neb ac nid yw’n newid dim.",
  problemTitle: "Wnaeth hynny ddim gweithio",
  problemText: "Ni newidiwyd dim. Rhowch gynnig arall arni ymhen ychydig.",
  oftenText: "Mae hyn wedi’i newid yn aml iawn. Rhowch gynnig arall arni yn nes ymlaen.",
  footerReason: "Rydych yn derbyn yr e-bost hwn am eich bod wedi tanysgrifio i gylchlythyrau gan {project}.",
};
