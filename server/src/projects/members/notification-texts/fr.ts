// Notification emails about projects, in French. Pure.
import type { BadRate } from "@postloft/contract/security.ts";
import type { PlatformEmailBlock } from "../../../emails/platform-email/platform-email-layout.ts";
import { formatsOf } from "../../../emails/platform-email/mail-formats.ts";
import type { NotificationTexts, PausedCampaign, NamedJob, UsedCap } from "../notification-facts.ts";

const { number, percent, day, counted } = formatsOf("fr");

const SWITCH_OFF = "Vous désactivez ce message dans les paramètres du projet, sous « Notifications ».";
const WAITS_AND_TRIES = "Quelques e-mails sont retentés d’eux-mêmes, d’abord après une heure.";

const JOBS: Readonly<Record<NamedJob, string>> = {
  "contacts.import": "L’import de contacts",
  "contacts.undo-import": "L’annulation d’un import de contacts",
  "contacts.bulk": "La modification groupée de contacts",
  "contacts.delete-field": "La suppression d’un champ des contacts",
  "suppressions.import": "L’import d’adresses bloquées",
  "campaigns.snapshot": "Le démarrage d’une campagne",
  "workflows.start": "Le démarrage d’un workflow pour de nombreux contacts",
  "workflows.cancel": "L’annulation d’exécutions d’un workflow",
  "events.delete": "La suppression d’événements",
  "project-reset": "La réinitialisation du projet",
  "project-deletion": "La suppression du projet",
  other: "Une tâche",
};
const CATEGORIES: Readonly<Record<UsedCap["category"], readonly [one: string, other: string]>> = {
  transactional: ["e-mail transactionnel", "e-mails transactionnels"],
  campaigns: ["e-mail de campagne", "e-mails de campagne"],
  workflows: ["e-mail de workflow", "e-mails de workflow"],
};
const WINDOWS = { sevenDay: "sur 7 jours", allTime: "au total" };

function rateOf({ of, window, level, count, mails, rate, threshold }: BadRate): string {
  const what = of === "bounces" ? counted(count, "rejet", "rejets") : counted(count, "plainte", "plaintes");
  const evaluated = level === "critical" ? "critique" : "avertissement";
  return `${what} pour ${number(mails)} e-mails ${WINDOWS[window]} : ${percent(rate)}, ${evaluated} à partir de ${percent(threshold)}`;
}

function capOf({ category, usage, limit, percentage }: UsedCap): string {
  return `${number(usage)} sur ${counted(limit, ...CATEGORIES[category])} (${percent(percentage)})`;
}

/** Returns why a campaign paused and what to do about it. */
function blocksOf({ id, name, cause }: PausedCampaign): PlatformEmailBlock[] {
  const paused = `La campagne « ${name} » s’est mise en pause automatiquement`;
  const resume = `Ce qui n’est pas encore parti attend. Une fois la cause corrigée, reprenez la campagne (POST /campaigns/${id}/resume).`;
  switch (cause.problem) {
    case "refused":
      return [
        `${paused}. Plus d’un cinquième de ses ${number(cause.last)} derniers e-mails ont été refusés à cause de l’expéditeur ou de la manière d’envoyer, non à cause des destinataires. La dernière réponse était :`,
        { quote: cause.answer },
        resume,
        `Ce qui a été refusé est renvoyé par POST /campaigns/${id}/retry-failed.`,
      ];
    case "in-doubt": {
      const which =
        cause.inARow === null
          ? `Plus d’un cinquième de ses ${number(cause.last)} derniers e-mails ont été remis et sont restés`
          : `${counted(cause.inARow, "e-mail a été remis et est resté", "e-mails de suite ont été remis et sont restés")}`;
      return [
        `${paused}. ${which} sans réponse : personne ne sait s’ils ont été acceptés. Leur état est UNCONFIRMED : cherchez-les sur le serveur de messagerie. À propos du dernier :`,
        { quote: cause.answer },
        resume,
        `GET /campaigns/${id}/recipients?status=UNCONFIRMED liste les e-mails dont personne ne sait s’ils sont arrivés ; indiquez ce qu’ils sont devenus par POST /campaigns/${id}/resolve.`,
      ];
    }
    case "over-cap":
      return [
        `${paused} : elle a ${counted(cause.recipients, "destinataire", "destinataires")}, et le plafond des e-mails de campagne n’en permet plus que ${number(cause.room)} ce mois-ci.`,
        `Personne ne l’a encore reçue. Relevez le plafond dans les réglages du projet ou attendez le mois prochain, puis reprenez-la (POST /campaigns/${id}/resume).`,
      ];
    case "audience":
      return [
        `${paused}, car ses destinataires n’ont pas pu être déterminés. La raison :`,
        { quote: cause.said },
        `Personne ne l’a encore reçue. Corrigez la cause et reprenez la campagne (POST /campaigns/${id}/resume), ou annulez-la.`,
      ];
    case "forgotten":
      return [
        `${paused}. Une base de données de secours a pris le relais sans savoir que la campagne avait commencé. ${counted(cause.mails, "e-mail était déjà parti", "e-mails étaient déjà partis")}.`,
        `Si vous la reprenez (POST /campaigns/${id}/resume), ces destinataires la reçoivent une seconde fois. Le journal indique les e-mails.`,
      ];
  }
}

export const FR: NotificationTexts = {
  lostDomain: ({ domain, record, failedChecks }) => ({
    subject: `${domain} n’est plus vérifié`,
    blocks: [
      `${number(failedChecks)} contrôles de suite n’ont pas trouvé l’enregistrement DKIM de ${domain} dans le DNS ; le domaine n’est donc plus vérifié. Les e-mails envoyés depuis ce domaine sont refusés, et ceux qui attendent échouent.`,
      `Rétablissez l’enregistrement TXT ${record} tel que le montre la page du domaine (ou GET /domains). Le domaine est de nouveau vérifié de lui-même en quelques minutes.`,
    ],
    label: "Afficher l’enregistrement",
    footer: SWITCH_OFF,
  }),
  lostLinkDomain: ({ domain }) => ({
    subject: `${domain} ne fonctionne plus pour les liens`,
    blocks: [
      `Trois contrôles de suite du domaine de liens ${domain} ont échoué. Les nouveaux e-mails utilisent l’adresse de l’installation pour les liens, les images et les pages publiques. Les liens des e-mails déjà envoyés peuvent ne plus fonctionner.`,
      `La page Domaines montre la cause. Dès qu’un contrôle réussit, les nouveaux e-mails utilisent de nouveau le domaine.`,
    ],
    label: "Afficher le domaine de liens",
    footer: SWITCH_OFF,
  }),
  pausedCampaign: (facts) => {
    const { name } = facts;
    return {
      subject: `La campagne « ${name} » est en pause`,
      blocks: blocksOf(facts),
      label: "Ouvrir la campagne",
      footer: SWITCH_OFF,
    };
  },
  pausedDestination: ({ campaign, project, destination, answer }) => {
    const what = campaign === null ? "les e-mails de liste" : "les e-mails";
    const owner = campaign === null ? `du projet « ${project} »` : `de la campagne « ${campaign.name} »`;
    const call = campaign === null ? "/emails/release" : `/campaigns/${campaign.id}/release`;
    return {
      subject:
        campaign === null
          ? `Les e-mails de liste de « ${project} » vers ${destination} sont en pause`
          : `La campagne « ${campaign.name} » est en pause pour ${destination}`,
      blocks: [
        `${destination} refuse ${what} ${owner} à cause de l’expéditeur ou de la manière d’envoyer, non à cause des destinataires. La dernière réponse était :`,
        { quote: answer },
        campaign === null
          ? `Les e-mails de liste vers ${destination} qui n’appartiennent à aucune campagne attendent pour l’instant ; les e-mails transactionnels et tous les autres destinataires ne sont pas concernés. GET /emails/paused-destinations liste ce qui est en pause.`
          : `Plus rien ne part vers ${destination} pour l’instant ; pour tous les autres, la campagne continue.`,
        `Cherchez ce que dit la réponse et corrigez-le : listes de blocage, DNS de l’expéditeur, plaintes. Laissez ensuite repartir les e-mails (POST ${call}). ${WAITS_AND_TRIES}`,
        ...(campaign === null
          ? []
          : [`Ce qui a été refusé est renvoyé par POST /campaigns/${campaign.id}/retry-failed.`]),
      ],
      label: campaign === null ? "Ouvrir le projet" : "Ouvrir la campagne",
      footer: SWITCH_OFF,
    };
  },
  suspended: ({ project, rates }) => ({
    subject: `Le projet « ${project} » a été désactivé`,
    blocks: [
      `Trop d’e-mails du projet « ${project} » ont été rejetés ou ont donné lieu à des plaintes ; il a donc été désactivé :`,
      { points: rates.map(rateOf) },
      "Il peut être lu, mais pas modifié, et il n’envoie rien. Les e-mails en attente attendent toujours.",
      "Cherchez quelles étaient ces adresses et d’où elles venaient, et retirez les autres de même origine. " +
        "Ensuite, le propriétaire réactive le projet dans ses paramètres, ce qui n’est possible que de temps en temps, ou l’exploitant de cette installation le fait.",
    ],
    label: "Les taux en détail",
  }),
  badRates: ({ project, rates }) => ({
    subject: `${project} : trop d’e-mails reviennent ou sont signalés comme indésirables`,
    blocks: [
      "Les destinataires jugent un expéditeur d’après ces taux, et un projet dont les taux sont critiques est désactivé :",
      { points: rates.map(rateOf) },
      "Cherchez quelles étaient ces adresses et d’où elles venaient, et n’écrivez plus aux autres de même origine.",
    ],
    label: "Les taux en détail",
    footer: `Envoyé une fois par semaine au plus. ${SWITCH_OFF}`,
  }),
  capsNear: ({ project, caps }) => ({
    subject: `${project} : un plafond de ce mois est presque atteint`,
    blocks: [
      "Au-delà d’un plafond, les e-mails sont refusés jusqu’au début du mois suivant, ou jusqu’à ce que le plafond soit relevé :",
      { points: caps.map(capOf) },
    ],
    label: "Voir les plafonds",
    footer: `Envoyé une fois par mois. ${SWITCH_OFF}`,
  }),
  capsReached: ({ project, caps }) => ({
    subject: `${project} : un plafond de ce mois est atteint`,
    blocks: [
      "Les autres e-mails de cette catégorie sont refusés jusqu’au début du mois suivant, ou jusqu’à ce que le plafond soit relevé. Ce qui a été accepté auparavant est envoyé.",
      { points: caps.map(capOf) },
    ],
    label: "Voir les plafonds",
    footer: `Envoyé une fois par mois. ${SWITCH_OFF}`,
  }),
  failedJob: ({ job, id, reason }) => ({
    subject: `${JOBS[job]} a échoué`,
    blocks: [
      `${JOBS[job]} a échoué et ne sera pas retenté. La raison :`,
      { quote: reason },
      `Ce qui était fait auparavant le reste. L’identifiant est ${id} ; l’exploitant de l’installation le retrouve dans le journal.`,
    ],
    label: "Ouvrir le projet",
    footer: `Envoyé une fois par heure au plus pour chaque type de tâche. ${SWITCH_OFF}`,
  }),
  failedWorkflow: ({ name, count, step, error, isPaused }) => ({
    subject: isPaused ? `Le workflow « ${name} » est en pause` : `Le workflow « ${name} » a échoué`,
    blocks: [
      isPaused
        ? `Nous avons mis en pause le workflow « ${name} », car le point de terminaison de l’étape « ${step} » a échoué pour ${counted(count, "contact", "contacts")} de suite. Dernière erreur :`
        : `Le workflow « ${name} » a échoué pour ${counted(count, "contact", "contacts")}, en dernier à l’étape « ${step} ». Dernière erreur :`,
      { quote: error },
      isPaused
        ? "Tous les contacts présents attendent. Corrigez le point de terminaison, puis reprenez le workflow."
        : "Ces contacts attendent à l’étape en échec. Corrigez la cause, puis relancez ou ignorez l’étape.",
    ],
    label: "Ouvrir le workflow",
    footer: `Envoyé au plus une fois par jour et par workflow, sauf s’il se met en pause. ${SWITCH_OFF}`,
  }),
  disabledEndpoint: ({ url, days, error }) => ({
    subject: "Un point de terminaison de webhook est désactivé",
    blocks: [
      `Nous avons désactivé le point de terminaison ${url}, car il n’a accepté aucun événement pendant ${counted(days, "jour", "jours")}. Dernière erreur :`,
      { quote: error },
      "Ses événements attendent. Corrigez le point de terminaison, puis activez-le.",
    ],
    label: "Ouvrir le point de terminaison",
    footer: SWITCH_OFF,
  }),
  week: ({ project, current, previous }) => ({
    subject: `${project} : ${counted(current.emails, "e-mail", "e-mails")} la semaine dernière`,
    blocks: [
      `Du ${day(current.startDate)} au ${day(current.endDate)}, avec la semaine précédente entre parenthèses :`,
      {
        points: [
          `Envoyés : ${number(current.emails)} (${number(previous.emails)})`,
          `Ouverts par des personnes : ${number(current.opens)} (${number(previous.opens)})`,
          `Cliqués : ${number(current.clicks)} (${number(previous.clicks)})`,
          `Rejetés : ${number(current.bounces)} (${number(previous.bounces)})`,
          `Plaintes : ${number(current.complaints)} (${number(previous.complaints)})`,
        ],
      },
    ],
    label: "Ouvrir les rapports",
    footer: `Vous avez demandé ce message. ${SWITCH_OFF}`,
  }),
  passedOn: ({ recipient, from, subject, text }) => ({
    subject: `[${recipient}] ${subject}`,
    blocks: [`${from} a écrit à ${recipient} :`, { quote: text }],
    footer: "Personne n’a vérifié qui a écrit cela. Pour répondre, écrivez à cette adresse.",
  }),
  test: () => ({
    subject: "E-mail de test de Postloft",
    blocks: ["Ceci est un e-mail de test, demandé par l’exploitant de cette installation de Postloft."],
  }),
};
