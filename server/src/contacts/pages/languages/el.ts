// Greek texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const el: PageTexts = {
  unsubscribeTitle: "Θέλετε να διαγραφείτε;",
  unsubscribeText: "Στη διεύθυνση {email} δεν θα έρχονται πλέον ενημερωτικά δελτία από: {project}.",
  unsubscribeButton: "Διαγραφή",
  unsubscribedTitle: "Η εγγραφή σας διαγράφηκε",
  unsubscribedText: "Στη διεύθυνση {email} δεν έρχονται πλέον ενημερωτικά δελτία από: {project}.",
  accountNote: "Τα μηνύματα για τον λογαριασμό ή τις παραγγελίες σας δεν επηρεάζονται.",
  keptNote:
    "Αυτή η διεύθυνση δεν βρίσκεται πλέον στη λίστα επαφών. Παραμένει χωρίς συνδρομή, ακόμα κι αν προστεθεί ξανά.",
  undoButton: "Αναίρεση",
  subscribeTitle: "Θέλετε να εγγραφείτε;",
  subscribeText: "Στη διεύθυνση {email} θα έρχονται ενημερωτικά δελτία από: {project}.",
  subscribeButton: "Εγγραφή",
  subscribedTitle: "Η εγγραφή σας είναι ενεργή",
  subscribedText: "Στη διεύθυνση {email} έρχονται ενημερωτικά δελτία από: {project}.",
  manageTitle: "Η εγγραφή σας",
  manageLink: "Διαχείριση εγγραφής",
  invalidTitle: "Αυτός ο σύνδεσμος δεν λειτουργεί",
  invalidText: "Δεν είναι πλήρης ή δεν είναι έγκυρος. Ανοίξτε ξανά τον σύνδεσμο από το email.",
  goneTitle: "Δεν υπάρχουν αποθηκευμένα στοιχεία για εσάς",
  goneText:
    "Η διεύθυνση για την οποία δημιουργήθηκε αυτός ο σύνδεσμος δεν είναι πλέον αποθηκευμένη εδώ και δεν λαμβάνει ενημερωτικά δελτία.",
  trialTitle: "Αυτός ο σύνδεσμος είναι μόνο για επίδειξη",
  trialText:
    "Βρίσκεται σε δοκιμαστικό e-mail ή σε προεπισκόπηση: δεν ανήκει σε κανέναν και δεν αλλάζει τίποτα.",
  problemTitle: "Δεν τα καταφέραμε",
  problemText: "Δεν άλλαξε τίποτα. Δοκιμάστε ξανά σε λίγο.",
  oftenText: "Αυτό άλλαξε πάρα πολλές φορές. Δοκιμάστε ξανά αργότερα.",
  footerReason: "Λαμβάνετε αυτό το email επειδή έχετε εγγραφεί στα ενημερωτικά δελτία από: {project}.",
};
