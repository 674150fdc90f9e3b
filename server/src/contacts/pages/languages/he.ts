// Hebrew texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const he: PageTexts = {
  unsubscribeTitle: "לבטל את ההרשמה?",
  unsubscribeText: "ניוזלטרים מאת {project} לא יישלחו עוד אל {email}.",
  unsubscribeButton: "ביטול ההרשמה",
  unsubscribedTitle: "ההרשמה בוטלה",
  unsubscribedText: "ניוזלטרים מאת {project} אינם נשלחים עוד אל {email}.",
  accountNote: "אין לכך השפעה על הודעות הנוגעות לחשבון או להזמנות שלך.",
  keptNote: "הכתובת הזו אינה מופיעה עוד ברשימת אנשי הקשר. היא תישאר מוסרת מהרשימה גם אם תתווסף שוב.",
  undoButton: "ביטול הפעולה",
  subscribeTitle: "להירשם לניוזלטר?",
  subscribeText: "ניוזלטרים מאת {project} יישלחו אל {email}.",
  subscribeButton: "הרשמה",
  subscribedTitle: "ההרשמה פעילה",
  subscribedText: "ניוזלטרים מאת {project} נשלחים אל {email}.",
  manageTitle: "ההרשמה שלך",
  manageLink: "ניהול ההרשמה",
  invalidTitle: "הקישור אינו פועל",
  invalidText: "הקישור חלקי או אינו תקף. יש לפתוח שוב את הקישור שבהודעת הדוא״ל.",
  goneTitle: "לא שמור כאן מידע עליך",
  goneText: "הכתובת שעבורה נוצר קישור זה אינה שמורה כאן עוד, ולא נשלחים אליה ניוזלטרים.",
  trialTitle: "הקישור הזה להמחשה בלבד",
  trialText: "הוא מופיע בהודעת ניסיון או בתצוגה מקדימה: הוא אינו שייך לאיש ואינו משנה דבר.",
  problemTitle: "הפעולה לא הצליחה",
  problemText: "דבר לא השתנה. יש לנסות שוב בעוד רגע.",
  oftenText: "בוצעו כאן שינויים רבים מאוד. יש לנסות שוב מאוחר יותר.",
  footerReason: "הודעה זו נשלחה אליך משום שנרשמת לניוזלטרים מאת {project}.",
};
