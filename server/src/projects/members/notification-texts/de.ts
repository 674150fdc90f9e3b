// Notification emails about projects, in German. Pure.
import type { BadRate } from "@postloft/contract/security.ts";
import type { PlatformEmailBlock } from "../../../emails/platform-email/platform-email-layout.ts";
import { formatsOf } from "../../../emails/platform-email/mail-formats.ts";
import type { NotificationTexts, PausedCampaign, NamedJob, UsedCap } from "../notification-facts.ts";

const { number, percent, day, counted } = formatsOf("de");

const SWITCH_OFF =
  "In den Einstellungen des Projekts, unter „Benachrichtigungen“, schalten Sie diese Mail ab.";
const WAITS_AND_TRIES = "Von selbst werden einige Mails erneut versucht, zuerst nach einer Stunde.";

const JOBS: Readonly<Record<NamedJob, string>> = {
  "contacts.import": "Ein Import von Kontakten",
  "contacts.undo-import": "Das Rückgängigmachen eines Imports von Kontakten",
  "contacts.bulk": "Eine Massenänderung von Kontakten",
  "contacts.delete-field": "Das Löschen eines Feldes der Kontakte",
  "suppressions.import": "Ein Import gesperrter Adressen",
  "campaigns.snapshot": "Der Start einer Kampagne",
  "workflows.start": "Der Start eines Workflows für viele Kontakte",
  "workflows.cancel": "Der Abbruch von Ausführungen eines Workflows",
  "events.delete": "Das Löschen von Ereignissen",
  "project-reset": "Das Zurücksetzen des Projekts",
  "project-deletion": "Das Löschen des Projekts",
  other: "Ein Auftrag",
};
const CATEGORIES: Readonly<Record<UsedCap["category"], readonly [one: string, other: string]>> = {
  transactional: ["Transaktionsmail", "Transaktionsmails"],
  campaigns: ["Mail von Kampagnen", "Mails von Kampagnen"],
  workflows: ["Mail von Workflows", "Mails von Workflows"],
};
const WINDOWS = { sevenDay: "in 7 Tagen", allTime: "insgesamt" };

function rateOf({ of, window, level, count, mails, rate, threshold }: BadRate): string {
  const what =
    of === "bounces"
      ? counted(count, "Rückläufer", "Rückläufer")
      : counted(count, "Beschwerde", "Beschwerden");
  const evaluated = level === "critical" ? "kritisch" : "eine Warnung";
  return `${what} bei ${number(mails)} Mails ${WINDOWS[window]}: ${percent(rate)}, ${evaluated} ab ${percent(threshold)}`;
}

function capOf({ category, usage, limit, percentage }: UsedCap): string {
  return `${number(usage)} von ${counted(limit, ...CATEGORIES[category])} (${percent(percentage)})`;
}

/** Returns why a campaign paused and what to do about it. */
function blocksOf({ id, name, cause }: PausedCampaign): PlatformEmailBlock[] {
  const paused = `Die Kampagne „${name}“ wurde automatisch angehalten`;
  const resume = `Was noch nicht gesendet ist, wartet. Wenn die Ursache behoben ist, setzen Sie die Kampagne fort (POST /campaigns/${id}/resume).`;
  switch (cause.problem) {
    case "refused":
      return [
        `${paused}. Mehr als ein Fünftel ihrer letzten ${number(cause.last)} Mails wurde abgelehnt, und zwar wegen des Absenders oder der Art des Versands, nicht wegen der Empfänger. Die letzte Antwort war:`,
        { quote: cause.answer },
        resume,
        `Was abgelehnt wurde, wird mit POST /campaigns/${id}/retry-failed erneut gesendet.`,
      ];
    case "in-doubt": {
      const which =
        cause.inARow === null
          ? `Mehr als ein Fünftel ihrer letzten ${number(cause.last)} Mails wurde übergeben und blieb`
          : counted(
              cause.inARow,
              "Mail wurde übergeben und blieb",
              "Mails wurden nacheinander übergeben und blieben",
            );
      return [
        `${paused}. ${which} ohne Antwort, sodass niemand weiß, ob sie angenommen wurden. Sie stehen auf UNCONFIRMED: Sehen Sie auf dem Mailserver nach. Zur letzten ist bekannt:`,
        { quote: cause.answer },
        resume,
        `GET /campaigns/${id}/recipients?status=UNCONFIRMED nennt die Mails, von denen niemand weiß, ob sie angekommen sind; was aus ihnen wurde, sagen Sie mit POST /campaigns/${id}/resolve.`,
      ];
    }
    case "over-cap":
      return [
        `${paused}: Sie hat ${number(cause.recipients)} Empfänger, und die Obergrenze für Mails von Kampagnen lässt diesen Monat noch ${number(cause.room)} zu.`,
        `Noch hat niemand sie erhalten. Erhöhen Sie die Obergrenze in den Einstellungen des Projekts oder warten Sie bis zum nächsten Monat, und setzen Sie die Kampagne dann fort (POST /campaigns/${id}/resume).`,
      ];
    case "audience":
      return [
        `${paused}, weil ihre Empfänger nicht ermittelt werden konnten. Der Grund:`,
        { quote: cause.said },
        `Noch hat niemand sie erhalten. Beheben Sie die Ursache und setzen Sie die Kampagne fort (POST /campaigns/${id}/resume), oder brechen Sie sie ab.`,
      ];
    case "forgotten":
      return [
        `${paused}. Eine Standby-Datenbank hat übernommen, die den Start der Kampagne nicht kennt. ${counted(cause.mails, "E-Mail war", "E-Mails waren")} schon gesendet.`,
        `Wenn Sie die Kampagne fortsetzen (POST /campaigns/${id}/resume), erhalten diese Empfänger sie noch einmal. Das Protokoll nennt die E-Mails.`,
      ];
  }
}

export const DE: NotificationTexts = {
  lostDomain: ({ domain, record, failedChecks }) => ({
    subject: `${domain} ist nicht mehr bestätigt`,
    blocks: [
      `${number(failedChecks)} Prüfungen nacheinander fanden den DKIM-Eintrag von ${domain} nicht im DNS; die Domain ist darum nicht mehr bestätigt. Mail von ihr wird abgelehnt, und wartende Mail schlägt fehl.`,
      `Setzen Sie den TXT-Eintrag ${record} wieder so, wie ihn die Seite der Domain (oder GET /domains) zeigt. Innerhalb von Minuten wird die Domain von selbst wieder bestätigt.`,
    ],
    label: "Eintrag anzeigen",
    footer: SWITCH_OFF,
  }),
  lostLinkDomain: ({ domain }) => ({
    subject: `${domain} funktioniert nicht mehr für Links`,
    blocks: [
      `Drei Prüfungen der Link-Domain ${domain} nacheinander schlugen fehl. Neue E-Mails verwenden für Links, Bilder und öffentliche Seiten die Adresse der Installation. Links in bereits gesendeten E-Mails funktionieren möglicherweise nicht.`,
      `Die Seite „Domains“ zeigt die Ursache. Sobald eine Prüfung gelingt, verwenden neue E-Mails die Domain wieder.`,
    ],
    label: "Link-Domain anzeigen",
    footer: SWITCH_OFF,
  }),
  pausedCampaign: (facts) => {
    const { name } = facts;
    return {
      subject: `Die Kampagne „${name}“ ist angehalten`,
      blocks: blocksOf(facts),
      label: "Kampagne öffnen",
      footer: SWITCH_OFF,
    };
  },
  pausedDestination: ({ campaign, project, destination, answer }) => {
    const what = campaign === null ? "Listenmails" : "Mails";
    const owner = campaign === null ? `des Projekts „${project}“` : `der Kampagne „${campaign.name}“`;
    const call = campaign === null ? "/emails/release" : `/campaigns/${campaign.id}/release`;
    return {
      subject:
        campaign === null
          ? `Listenmails von „${project}“ an ${destination} sind angehalten`
          : `Die Kampagne „${campaign.name}“ ist für ${destination} angehalten`,
      blocks: [
        `${destination} lehnt ${what} ${owner} ab, und zwar wegen des Absenders oder der Art des Versands, nicht wegen der Empfänger. Die letzte Antwort war:`,
        { quote: answer },
        campaign === null
          ? `Listenmails an ${destination}, die zu keiner Kampagne gehören, warten vorerst; Transaktionsmails und Mails an alle anderen werden gesendet. GET /emails/paused-destinations nennt, was angehalten ist.`
          : `An ${destination} wird vorerst nichts mehr gesendet, an alle anderen läuft die Kampagne weiter.`,
        `Prüfen Sie, was die Antwort besagt, und beheben Sie es: Sperrlisten, DNS des Absenders, Beschwerden. Geben Sie die Mails dann frei (POST ${call}). ${WAITS_AND_TRIES}`,
        ...(campaign === null
          ? []
          : [`Was abgelehnt wurde, wird mit POST /campaigns/${campaign.id}/retry-failed erneut gesendet.`]),
      ],
      label: campaign === null ? "Projekt öffnen" : "Kampagne öffnen",
      footer: SWITCH_OFF,
    };
  },
  suspended: ({ project, rates }) => ({
    subject: `Das Projekt „${project}“ wurde gesperrt`,
    blocks: [
      `Zu viele Mails des Projekts „${project}“ kamen zurück oder führten zu Beschwerden; es wurde darum gesperrt:`,
      { points: rates.map(rateOf) },
      "Es kann gelesen, aber nicht geändert werden, und es sendet nichts. Wartende Mails warten weiter.",
      "Finden Sie heraus, welche Adressen das waren und woher sie kamen, und entfernen Sie die übrigen derselben Herkunft. " +
        "Danach gibt der Inhaber das Projekt in seinen Einstellungen wieder frei, was nur von Zeit zu Zeit möglich ist, oder der Betreiber dieser Installation.",
    ],
    label: "Die Quoten im Einzelnen",
  }),
  badRates: ({ project, rates }) => ({
    subject: `${project}: Zu viele Mails kommen zurück oder werden als Spam gemeldet`,
    blocks: [
      "Empfänger beurteilen einen Absender nach diesen Quoten, und ein Projekt mit kritischen Quoten wird gesperrt:",
      { points: rates.map(rateOf) },
      "Finden Sie heraus, welche Adressen das waren und woher sie kamen, und schreiben Sie den übrigen derselben Herkunft nicht mehr.",
    ],
    label: "Die Quoten im Einzelnen",
    footer: `Diese Mail kommt höchstens einmal in der Woche. ${SWITCH_OFF}`,
  }),
  capsNear: ({ project, caps }) => ({
    subject: `${project}: Eine Obergrenze dieses Monats ist fast erreicht`,
    blocks: [
      "Über einer Obergrenze werden Mails abgelehnt, bis der nächste Monat beginnt oder die Grenze erhöht wird:",
      { points: caps.map(capOf) },
    ],
    label: "Obergrenzen ansehen",
    footer: `Diese Mail kommt einmal im Monat. ${SWITCH_OFF}`,
  }),
  capsReached: ({ project, caps }) => ({
    subject: `${project}: Eine Obergrenze dieses Monats ist erreicht`,
    blocks: [
      "Weitere Mails dieser Art werden abgelehnt, bis der nächste Monat beginnt oder die Grenze erhöht wird. Was vorher angenommen wurde, wird gesendet.",
      { points: caps.map(capOf) },
    ],
    label: "Obergrenzen ansehen",
    footer: `Diese Mail kommt einmal im Monat. ${SWITCH_OFF}`,
  }),
  failedJob: ({ job, id, reason }) => ({
    subject: `${JOBS[job]} ist fehlgeschlagen`,
    blocks: [
      `${JOBS[job]} ist fehlgeschlagen und wird nicht erneut versucht. Der Grund:`,
      { quote: reason },
      `Was bis dahin getan war, bleibt getan. Die Kennung ist ${id}; der Betreiber der Installation findet sie im Protokoll.`,
    ],
    label: "Projekt öffnen",
    footer: `Von jeder Art kommt höchstens einmal in der Stunde eine Mail. ${SWITCH_OFF}`,
  }),
  failedWorkflow: ({ name, count, step, error, isPaused }) => ({
    subject: isPaused ? `Der Workflow „${name}“ ist angehalten` : `Der Workflow „${name}“ ist fehlgeschlagen`,
    blocks: [
      isPaused
        ? `Wir haben den Workflow „${name}“ angehalten, weil der Endpunkt des Schritts „${step}“ für ${counted(count, "Kontakt", "Kontakte")} in Folge fehlgeschlagen ist. Letzter Fehler:`
        : `Der Workflow „${name}“ ist für ${counted(count, "Kontakt", "Kontakte")} fehlgeschlagen, zuletzt beim Schritt „${step}“. Letzter Fehler:`,
      { quote: error },
      isPaused
        ? "Alle Kontakte darin warten. Beheben Sie den Fehler am Endpunkt und setzen Sie den Workflow dann fort."
        : "Diese Kontakte warten beim fehlgeschlagenen Schritt. Beheben Sie die Ursache und wiederholen oder überspringen Sie dann den Schritt.",
    ],
    label: "Workflow öffnen",
    footer: `Höchstens einmal täglich pro Workflow, außer wenn er angehalten wird. ${SWITCH_OFF}`,
  }),
  disabledEndpoint: ({ url, days, error }) => ({
    subject: "Ein Webhook-Endpunkt ist deaktiviert",
    blocks: [
      `Wir haben den Endpunkt ${url} deaktiviert, weil er ${counted(days, "Tag", "Tage")} lang kein Ereignis angenommen hat. Letzter Fehler:`,
      { quote: error },
      "Seine Ereignisse warten. Beheben Sie den Fehler am Endpunkt und aktivieren Sie ihn dann.",
    ],
    label: "Endpunkt öffnen",
    footer: SWITCH_OFF,
  }),
  week: ({ project, current, previous }) => ({
    subject: `${project}: ${counted(current.emails, "Mail", "Mails")} in der letzten Woche`,
    blocks: [
      `Vom ${day(current.startDate)} bis zum ${day(current.endDate)}, in Klammern die Woche davor:`,
      {
        points: [
          `Gesendet: ${number(current.emails)} (${number(previous.emails)})`,
          `Von Menschen geöffnet: ${number(current.opens)} (${number(previous.opens)})`,
          `Geklickt: ${number(current.clicks)} (${number(previous.clicks)})`,
          `Rückläufer: ${number(current.bounces)} (${number(previous.bounces)})`,
          `Beschwerden: ${number(current.complaints)} (${number(previous.complaints)})`,
        ],
      },
    ],
    label: "Berichte öffnen",
    footer: `Sie haben um diese Mail gebeten. ${SWITCH_OFF}`,
  }),
  passedOn: ({ recipient, from, subject, text }) => ({
    subject: `[${recipient}] ${subject}`,
    blocks: [`${from} schrieb an ${recipient}:`, { quote: text }],
    footer: "Niemand hat geprüft, wer das geschrieben hat. Um zu antworten, schreiben Sie an jene Adresse.",
  }),
  test: () => ({
    subject: "Testmail von Postloft",
    blocks: ["Dies ist eine Testmail. Der Betreiber dieser Installation von Postloft hat sie angefordert."],
  }),
};
