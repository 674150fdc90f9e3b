// Texts of the emails to people who were invited or added to a project, in each language.
import type { MailLanguage } from "../../emails/platform-email/mail-language.ts";

interface News {
  inviter: string;
  project: string;
  role: string;
}

interface MemberText {
  /** Omits the inviter, because the inviter could choose an address as text. */
  subject: (news: Omit<News, "inviter">) => string;
  before: (news: News) => string;
  label: (news: News) => string;
  after: (news: News & { days: string }) => string;
}

interface MemberTexts {
  invitation: MemberText;
  added: MemberText;
}

/** A language without a text does not compile. */
export const MEMBER_TEXTS: Readonly<Record<MailLanguage, MemberTexts>> = {
  en: {
    invitation: {
      subject: ({ project }) => `Invitation to ${project}`,
      before: ({ inviter, project, role }) =>
        `${inviter} invited you to the project ${project} as ${role}. Create your account to join:`,
      label: () => "Accept invitation",
      after: ({ inviter, days }) =>
        `The link works once, within ${days} days. If you don't know ${inviter}, ignore this email.`,
    },
    added: {
      subject: ({ project }) => `You were added to ${project}`,
      before: ({ inviter, project, role }) =>
        `You are a member of the project ${project} now, as ${role}: ${inviter} added you.`,
      label: ({ project }) => `Open ${project}`,
      after: ({ inviter }) => `If you don't know ${inviter}, sign in and leave the project.`,
    },
  },
  de: {
    invitation: {
      subject: ({ project }) => `Einladung zu ${project}`,
      before: ({ inviter, project, role }) =>
        `${inviter} lädt Sie zum Projekt ${project} ein, als ${role}. Öffnen Sie diesen Link, um Ihr Konto anzulegen:`,
      label: () => "Einladung annehmen",
      after: ({ inviter, days }) =>
        `Der Link gilt einmal und ${days} Tage lang. Wenn Sie ${inviter} nicht kennen, müssen Sie nichts tun.`,
    },
    added: {
      subject: ({ project }) => `Sie wurden zu ${project} hinzugefügt`,
      before: ({ inviter, project, role }) =>
        `Sie sind jetzt Mitglied des Projekts ${project}, als ${role}: ${inviter} hat Sie hinzugefügt.`,
      label: ({ project }) => `${project} öffnen`,
      after: ({ inviter }) =>
        `Wenn Sie ${inviter} nicht kennen, melden Sie sich an und verlassen Sie das Projekt.`,
    },
  },
  fr: {
    invitation: {
      subject: ({ project }) => `Invitation à rejoindre ${project}`,
      before: ({ inviter, project, role }) =>
        `${inviter} vous invite à rejoindre le projet ${project}, avec le rôle ${role}. Ouvrez ce lien pour créer votre compte :`,
      label: () => "Accepter l’invitation",
      after: ({ inviter, days }) =>
        `Le lien fonctionne une seule fois, pendant ${days} jours. Si vous ne connaissez pas ${inviter}, ne faites rien.`,
    },
    added: {
      subject: ({ project }) => `Vous avez été ajouté au projet ${project}`,
      before: ({ inviter, project, role }) =>
        `Vous êtes désormais membre du projet ${project}, avec le rôle ${role} : ${inviter} vous a ajouté.`,
      label: ({ project }) => `Ouvrir ${project}`,
      after: ({ inviter }) => `Si vous ne connaissez pas ${inviter}, connectez-vous et quittez le projet.`,
    },
  },
  es: {
    invitation: {
      subject: ({ project }) => `Invitación a ${project}`,
      before: ({ inviter, project, role }) =>
        `${inviter} le invita al proyecto ${project}, como ${role}. Abra este enlace para crear su cuenta:`,
      label: () => "Aceptar la invitación",
      after: ({ inviter, days }) =>
        `El enlace funciona una sola vez, durante ${days} días. Si no conoce a ${inviter}, no haga nada.`,
    },
    added: {
      subject: ({ project }) => `Se le añadió a ${project}`,
      before: ({ inviter, project, role }) =>
        `Ahora es miembro del proyecto ${project}, como ${role}: ${inviter} le añadió.`,
      label: ({ project }) => `Abrir ${project}`,
      after: ({ inviter }) => `Si no conoce a ${inviter}, inicie sesión y salga del proyecto.`,
    },
  },
};
