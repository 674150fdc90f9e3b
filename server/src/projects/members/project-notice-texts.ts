// Texts of security emails to a project's members about roles, keys and removal. In each language.
import type { MailLanguage } from "../../emails/platform-email/mail-language.ts";

export interface NoticeFacts {
  project: string;
  /** The address of the person who did it; null for the server itself. */
  by: string | null;
  role?: string;
  /** The address of the new owner. */
  owner?: string;
  /** Why the server's administrator did it. */
  reason?: string;
}

export const NOTICES = [
  "roleChanged",
  "removed",
  "ownershipTransferred",
  "keysRotated",
  "resetRequested",
  "deletionRequested",
  "disabledByAdmin",
  "enabledByAdmin",
] as const;
export type Notice = (typeof NOTICES)[number];

type NoticeWords = (facts: NoticeFacts) => { subject: string; block: string };

interface NoticeTexts extends Record<Notice, NoticeWords> {
  footer: string;
}

/** A language without a text does not compile. */
export const NOTICE_TEXTS: Readonly<Record<MailLanguage, NoticeTexts>> = {
  en: {
    roleChanged: ({ project, by, role }) => ({
      subject: `Your role in ${project} changed`,
      block: `Your role in the project ${project} is now ${role}. Changed by ${by ?? "the server's administrator"}.`,
    }),
    removed: ({ project, by }) => ({
      subject: `You were removed from ${project}`,
      block: `You are no longer a member of the project ${project}. Removed by ${by ?? "the server's administrator"}. Keys you created no longer work.`,
    }),
    ownershipTransferred: ({ project, by, owner }) => ({
      subject: `${project} has a new owner`,
      block: `${owner} now owns the project ${project}. Transferred by ${by ?? "the server's administrator"}.`,
    }),
    keysRotated: ({ project, by }) => ({
      subject: `The API keys of ${project} were replaced`,
      block: `The project ${project} has a new public and a new secret key. The previous keys no longer work. Replaced by ${by ?? "the server's administrator"}.`,
    }),
    resetRequested: ({ project, by }) => ({
      subject: `${project} is being reset`,
      block: `All contacts, content and history of the project ${project} are being deleted. Requested by ${by ?? "the server's administrator"}.`,
    }),
    deletionRequested: ({ project, by }) => ({
      subject: `${project} is being deleted`,
      block: `The project ${project} is being deleted with everything in it. Requested by ${by ?? "the server's administrator"}.`,
    }),
    disabledByAdmin: ({ project, reason }) => ({
      subject: `The project ${project} was disabled`,
      block: `The server's administrator disabled the project ${project}: ${reason}. You can view it but not change it. It sends nothing, and waiting emails stay on hold until the administrator enables it again.`,
    }),
    enabledByAdmin: ({ project, reason }) => ({
      subject: `The project ${project} was enabled`,
      block: `The server's administrator enabled the project ${project} again: ${reason}. Waiting emails are sent now.`,
    }),
    footer: "If you didn't expect this, contact the other admins of the project.",
  },
  de: {
    roleChanged: ({ project, by, role }) => ({
      subject: `Ihre Rolle in ${project} wurde geändert`,
      block: `Ihre Rolle im Projekt ${project} ist jetzt ${role}. Geändert durch ${by ?? "die Administration des Servers"}.`,
    }),
    removed: ({ project, by }) => ({
      subject: `Sie wurden aus ${project} entfernt`,
      block: `Sie sind kein Mitglied des Projekts ${project} mehr. Entfernt durch ${by ?? "die Administration des Servers"}. Schlüssel, die Sie erstellt haben, gelten nicht mehr.`,
    }),
    ownershipTransferred: ({ project, by, owner }) => ({
      subject: `${project} gehört jemand anderem`,
      block: `Das Projekt ${project} gehört jetzt ${owner}. Übertragen durch ${by ?? "die Administration des Servers"}.`,
    }),
    keysRotated: ({ project, by }) => ({
      subject: `Die API-Schlüssel von ${project} wurden ersetzt`,
      block: `Das Projekt ${project} hat einen neuen öffentlichen und einen neuen geheimen Schlüssel. Die bisherigen gelten nicht mehr. Ersetzt durch ${by ?? "die Administration des Servers"}.`,
    }),
    resetRequested: ({ project, by }) => ({
      subject: `${project} wird zurückgesetzt`,
      block: `Alle Kontakte, Inhalte und der Verlauf des Projekts ${project} werden gelöscht. Angefordert durch ${by ?? "die Administration des Servers"}.`,
    }),
    deletionRequested: ({ project, by }) => ({
      subject: `${project} wird gelöscht`,
      block: `Das Projekt ${project} wird mit allem darin gelöscht. Angefordert durch ${by ?? "die Administration des Servers"}.`,
    }),
    disabledByAdmin: ({ project, reason }) => ({
      subject: `Das Projekt ${project} wurde gesperrt`,
      block: `Die Administration des Servers hat das Projekt ${project} gesperrt: ${reason}. Sie können es ansehen, aber nicht ändern. Es sendet nichts, und wartende E-Mails bleiben angehalten, bis die Administration es wieder freigibt.`,
    }),
    enabledByAdmin: ({ project, reason }) => ({
      subject: `Das Projekt ${project} wurde freigegeben`,
      block: `Die Administration des Servers hat das Projekt ${project} wieder freigegeben: ${reason}. Wartende E-Mails werden jetzt gesendet.`,
    }),
    footer: "Wenn Sie das nicht erwartet haben, wenden Sie sich an die anderen Admins des Projekts.",
  },
  es: {
    roleChanged: ({ project, by, role }) => ({
      subject: `Su rol en ${project} cambió`,
      block: `Su rol en el proyecto ${project} es ahora ${role}. Cambiado por ${by ?? "la administración del servidor"}.`,
    }),
    removed: ({ project, by }) => ({
      subject: `Se le quitó de ${project}`,
      block: `Ya no es miembro del proyecto ${project}. Lo hizo ${by ?? "la administración del servidor"}. Las claves que usted creó ya no funcionan.`,
    }),
    ownershipTransferred: ({ project, by, owner }) => ({
      subject: `${project} tiene otro propietario`,
      block: `El proyecto ${project} es ahora de ${owner}. Transferido por ${by ?? "la administración del servidor"}.`,
    }),
    keysRotated: ({ project, by }) => ({
      subject: `Se reemplazaron las claves de API de ${project}`,
      block: `El proyecto ${project} tiene una clave pública y una clave secreta nuevas. Las anteriores ya no funcionan. Reemplazadas por ${by ?? "la administración del servidor"}.`,
    }),
    resetRequested: ({ project, by }) => ({
      subject: `${project} se está restableciendo`,
      block: `Se eliminan todos los contactos, el contenido y el historial del proyecto ${project}. Lo pidió ${by ?? "la administración del servidor"}.`,
    }),
    deletionRequested: ({ project, by }) => ({
      subject: `${project} se está eliminando`,
      block: `El proyecto ${project} se elimina con todo lo que contiene. Lo pidió ${by ?? "la administración del servidor"}.`,
    }),
    disabledByAdmin: ({ project, reason }) => ({
      subject: `El proyecto ${project} se ha desactivado`,
      block: `La administración del servidor ha desactivado el proyecto ${project}: ${reason}. Puede verlo, pero no cambiarlo. No envía nada, y los correos en espera quedan retenidos hasta que la administración vuelva a activarlo.`,
    }),
    enabledByAdmin: ({ project, reason }) => ({
      subject: `El proyecto ${project} se ha activado`,
      block: `La administración del servidor ha vuelto a activar el proyecto ${project}: ${reason}. Los correos en espera se envían ahora.`,
    }),
    footer: "Si no lo esperaba, hable con los demás administradores del proyecto.",
  },
  fr: {
    roleChanged: ({ project, by, role }) => ({
      subject: `Votre rôle dans ${project} a changé`,
      block: `Votre rôle dans le projet ${project} est désormais ${role}. Modifié par ${by ?? "l’administration du serveur"}.`,
    }),
    removed: ({ project, by }) => ({
      subject: `Vous avez été retiré de ${project}`,
      block: `Vous n’êtes plus membre du projet ${project}. Retiré par ${by ?? "l’administration du serveur"}. Les clés que vous avez créées ne fonctionnent plus.`,
    }),
    ownershipTransferred: ({ project, by, owner }) => ({
      subject: `${project} a un nouveau propriétaire`,
      block: `Le projet ${project} appartient désormais à ${owner}. Transféré par ${by ?? "l’administration du serveur"}.`,
    }),
    keysRotated: ({ project, by }) => ({
      subject: `Les clés d’API de ${project} ont été remplacées`,
      block: `Le projet ${project} a une nouvelle clé publique et une nouvelle clé secrète. Les précédentes ne fonctionnent plus. Remplacées par ${by ?? "l’administration du serveur"}.`,
    }),
    resetRequested: ({ project, by }) => ({
      subject: `${project} est en cours de réinitialisation`,
      block: `Tous les contacts, les contenus et l’historique du projet ${project} sont supprimés. Demandé par ${by ?? "l’administration du serveur"}.`,
    }),
    deletionRequested: ({ project, by }) => ({
      subject: `${project} est en cours de suppression`,
      block: `Le projet ${project} est supprimé avec tout son contenu. Demandé par ${by ?? "l’administration du serveur"}.`,
    }),
    disabledByAdmin: ({ project, reason }) => ({
      subject: `Le projet ${project} a été désactivé`,
      block: `L’administration du serveur a désactivé le projet ${project} : ${reason}. Vous pouvez le consulter, mais pas le modifier. Il n’envoie rien, et les e-mails en attente restent retenus jusqu’à ce que l’administration le réactive.`,
    }),
    enabledByAdmin: ({ project, reason }) => ({
      subject: `Le projet ${project} a été activé`,
      block: `L’administration du serveur a réactivé le projet ${project} : ${reason}. Les e-mails en attente sont envoyés maintenant.`,
    }),
    footer: "Si vous ne vous y attendiez pas, contactez les autres administrateurs du projet.",
  },
};
