// Notification emails about projects, in Spanish. Pure.
import type { BadRate } from "@postloft/contract/security.ts";
import type { PlatformEmailBlock } from "../../../emails/platform-email/platform-email-layout.ts";
import { formatsOf } from "../../../emails/platform-email/mail-formats.ts";
import type { NotificationTexts, PausedCampaign, NamedJob, UsedCap } from "../notification-facts.ts";

const { number, percent, day, counted } = formatsOf("es");

const SWITCH_OFF = "En los ajustes del proyecto, en «Notificaciones», puede desactivar este mensaje.";
const WAITS_AND_TRIES = "Algunos correos se reintentan por sí solos, primero al cabo de una hora.";

const JOBS: Readonly<Record<NamedJob, string>> = {
  "contacts.import": "Una importación de contactos",
  "contacts.undo-import": "La anulación de una importación de contactos",
  "contacts.bulk": "Un cambio en bloque de contactos",
  "contacts.delete-field": "La eliminación de un campo de los contactos",
  "suppressions.import": "Una importación de direcciones bloqueadas",
  "campaigns.snapshot": "El inicio de una campaña",
  "workflows.start": "El inicio de un flujo para muchos contactos",
  "workflows.cancel": "La cancelación de ejecuciones de un flujo",
  "events.delete": "La eliminación de eventos",
  "project-reset": "El restablecimiento del proyecto",
  "project-deletion": "La eliminación del proyecto",
  other: "Una tarea",
};
const CATEGORIES: Readonly<Record<UsedCap["category"], readonly [one: string, other: string]>> = {
  transactional: ["correo transaccional", "correos transaccionales"],
  campaigns: ["correo de campañas", "correos de campañas"],
  workflows: ["correo de flujos", "correos de flujos"],
};
const WINDOWS = { sevenDay: "en 7 días", allTime: "en total" };

function rateOf({ of, window, level, count, mails, rate, threshold }: BadRate): string {
  const what =
    of === "bounces" ? counted(count, "devolución", "devoluciones") : counted(count, "queja", "quejas");
  const evaluated = level === "critical" ? "crítico" : "advertencia";
  return `${what} de ${number(mails)} correos ${WINDOWS[window]}: ${percent(rate)}, ${evaluated} a partir del ${percent(threshold)}`;
}

function capOf({ category, usage, limit, percentage }: UsedCap): string {
  return `${number(usage)} de ${counted(limit, ...CATEGORIES[category])} (${percent(percentage)})`;
}

/** Returns why a campaign paused and what to do about it. */
function blocksOf({ id, name, cause }: PausedCampaign): PlatformEmailBlock[] {
  const paused = `La campaña «${name}» se puso en pausa automáticamente`;
  const resume = `Lo que no ha salido espera. Cuando la causa esté corregida, reanude la campaña (POST /campaigns/${id}/resume).`;
  switch (cause.problem) {
    case "refused":
      return [
        `${paused}. Más de una quinta parte de sus últimos ${number(cause.last)} correos fue rechazada por quién los envía o cómo, no por sus destinatarios. La última respuesta fue:`,
        { quote: cause.answer },
        resume,
        `Lo rechazado se envía otra vez con POST /campaigns/${id}/retry-failed.`,
      ];
    case "in-doubt": {
      const which =
        cause.inARow === null
          ? `Más de una quinta parte de sus últimos ${number(cause.last)} correos se entregó y quedó`
          : `${counted(cause.inARow, "correo se entregó y quedó", "correos seguidos se entregaron y quedaron")}`;
      return [
        `${paused}. ${which} sin respuesta: nadie sabe si fueron aceptados. Su estado es UNCONFIRMED: búsquelos en el servidor de correo. Sobre el último:`,
        { quote: cause.answer },
        resume,
        `GET /campaigns/${id}/recipients?status=UNCONFIRMED muestra los correos de los que nadie sabe si llegaron; indique qué fue de ellos con POST /campaigns/${id}/resolve.`,
      ];
    }
    case "over-cap":
      return [
        `${paused}: tiene ${counted(cause.recipients, "destinatario", "destinatarios")}, y el tope de correos de campañas solo deja sitio para ${number(cause.room)} este mes.`,
        `Nadie la ha recibido todavía. Suba el tope en los ajustes del proyecto o espere al mes que viene, y después reanúdela (POST /campaigns/${id}/resume).`,
      ];
    case "audience":
      return [
        `${paused} porque no se pudieron determinar sus destinatarios. El motivo:`,
        { quote: cause.said },
        `Nadie la ha recibido todavía. Corrija la causa y reanude la campaña (POST /campaigns/${id}/resume), o cancélela.`,
      ];
    case "forgotten":
      return [
        `${paused}. Una base de datos en espera tomó el relevo y no sabe que la campaña había empezado. Ya se habían enviado ${counted(cause.mails, "correo", "correos")}.`,
        `Si la reanuda (POST /campaigns/${id}/resume), estos destinatarios la reciben otra vez. El registro indica los correos.`,
      ];
  }
}

export const ES: NotificationTexts = {
  lostDomain: ({ domain, record, failedChecks }) => ({
    subject: `${domain} ya no está verificado`,
    blocks: [
      `${number(failedChecks)} comprobaciones seguidas no encontraron el registro DKIM de ${domain} en el DNS, así que el dominio ya no está verificado. El correo que sale de él se rechaza, y el que espera falla.`,
      `Vuelva a poner el registro TXT ${record} tal como lo muestra la página del dominio (o GET /domains). El dominio se verifica de nuevo por sí solo en unos minutos.`,
    ],
    label: "Ver el registro",
    footer: SWITCH_OFF,
  }),
  lostLinkDomain: ({ domain }) => ({
    subject: `${domain} ya no funciona para los enlaces`,
    blocks: [
      `Tres comprobaciones seguidas del dominio de enlaces ${domain} fallaron. Los correos nuevos usan la dirección de la instalación para los enlaces, las imágenes y las páginas públicas. Los enlaces de los correos ya enviados pueden no funcionar.`,
      `La página Dominios muestra la causa. Cuando una comprobación tenga éxito, los correos nuevos volverán a usar el dominio.`,
    ],
    label: "Ver el dominio de enlaces",
    footer: SWITCH_OFF,
  }),
  pausedCampaign: (facts) => {
    const { name } = facts;
    return {
      subject: `La campaña «${name}» está en pausa`,
      blocks: blocksOf(facts),
      label: "Abrir la campaña",
      footer: SWITCH_OFF,
    };
  },
  pausedDestination: ({ campaign, project, destination, answer }) => {
    const what = campaign === null ? "el correo de lista" : "el correo";
    const owner = campaign === null ? `del proyecto «${project}»` : `de la campaña «${campaign.name}»`;
    const call = campaign === null ? "/emails/release" : `/campaigns/${campaign.id}/release`;
    return {
      subject:
        campaign === null
          ? `El correo de lista de «${project}» para ${destination} está en pausa`
          : `La campaña «${campaign.name}» está en pausa para ${destination}`,
      blocks: [
        `${destination} rechaza ${what} ${owner} por quién lo envía o cómo, no por sus destinatarios. La última respuesta fue:`,
        { quote: answer },
        campaign === null
          ? `El correo de lista para ${destination} que no pertenece a ninguna campaña espera por ahora; el correo transaccional y el destinado a los demás sigue saliendo. GET /emails/paused-destinations muestra lo que está en pausa.`
          : `A ${destination} no sale nada más por ahora; para los demás la campaña continúa.`,
        `Averigüe qué dice la respuesta y corríjalo: listas de bloqueo, DNS del remitente, quejas. Después deje que el correo siga (POST ${call}). ${WAITS_AND_TRIES}`,
        ...(campaign === null
          ? []
          : [`Lo rechazado se envía otra vez con POST /campaigns/${campaign.id}/retry-failed.`]),
      ],
      label: campaign === null ? "Abrir el proyecto" : "Abrir la campaña",
      footer: SWITCH_OFF,
    };
  },
  suspended: ({ project, rates }) => ({
    subject: `El proyecto «${project}» fue desactivado`,
    blocks: [
      `Demasiado correo del proyecto «${project}» fue devuelto o recibió quejas, así que fue desactivado:`,
      { points: rates.map(rateOf) },
      "Se puede leer pero no cambiar, y no envía nada. El correo que esperaba sigue esperando.",
      "Averigüe qué direcciones eran y de dónde venían, y quite las demás del mismo origen. " +
        "Después el propietario activa de nuevo el proyecto en sus ajustes, lo que solo es posible de vez en cuando, o lo hace quien administra esta instalación.",
    ],
    label: "Las tasas en detalle",
  }),
  badRates: ({ project, rates }) => ({
    subject: `${project}: demasiado correo vuelve o se denuncia como spam`,
    blocks: [
      "Los receptores juzgan a un remitente por estas tasas, y un proyecto con tasas críticas se desactiva:",
      { points: rates.map(rateOf) },
      "Averigüe qué direcciones eran y de dónde venían, y deje de escribir a las demás del mismo origen.",
    ],
    label: "Las tasas en detalle",
    footer: `Se envía una vez por semana como máximo. ${SWITCH_OFF}`,
  }),
  capsNear: ({ project, caps }) => ({
    subject: `${project}: un tope de este mes está casi alcanzado`,
    blocks: [
      "Por encima de un tope el correo se rechaza hasta que empiece el mes siguiente o se suba el tope:",
      { points: caps.map(capOf) },
    ],
    label: "Ver los topes",
    footer: `Se envía una vez al mes. ${SWITCH_OFF}`,
  }),
  capsReached: ({ project, caps }) => ({
    subject: `${project}: un tope de este mes está alcanzado`,
    blocks: [
      "El correo adicional de este tipo se rechaza hasta que empiece el mes siguiente o se suba el tope. Lo aceptado antes se envía.",
      { points: caps.map(capOf) },
    ],
    label: "Ver los topes",
    footer: `Se envía una vez al mes. ${SWITCH_OFF}`,
  }),
  failedJob: ({ job, id, reason }) => ({
    subject: `${JOBS[job]} falló`,
    blocks: [
      `${JOBS[job]} falló y no se intenta de nuevo. El motivo:`,
      { quote: reason },
      `Lo que ya estaba hecho queda hecho. Su identificador es ${id}; quien administra la instalación lo encuentra en el registro.`,
    ],
    label: "Abrir el proyecto",
    footer: `De cada tipo se envía como máximo un mensaje por hora. ${SWITCH_OFF}`,
  }),
  failedWorkflow: ({ name, count, step, error, isPaused }) => ({
    subject: isPaused ? `El flujo «${name}» está en pausa` : `El flujo «${name}» ha fallado`,
    blocks: [
      isPaused
        ? `Hemos pausado el flujo «${name}» porque el endpoint del paso «${step}» falló para ${counted(count, "contacto", "contactos")} seguidos. Último error:`
        : `El flujo «${name}» falló para ${counted(count, "contacto", "contactos")}, la última vez en el paso «${step}». Último error:`,
      { quote: error },
      isPaused
        ? "Todos los contactos que están dentro esperan. Corrija el endpoint y luego reanude el flujo."
        : "Estos contactos esperan en el paso que falló. Corrija la causa y luego reintente u omita el paso.",
    ],
    label: "Abrir el flujo",
    footer: `Se envía como máximo una vez al día por flujo, salvo si se pausa. ${SWITCH_OFF}`,
  }),
  disabledEndpoint: ({ url, days, error }) => ({
    subject: "Un endpoint de webhook está desactivado",
    blocks: [
      `Hemos desactivado el endpoint ${url} porque no aceptó ningún evento durante ${counted(days, "día", "días")}. Último error:`,
      { quote: error },
      "Sus eventos esperan. Corrija el endpoint y luego actívelo.",
    ],
    label: "Abrir el endpoint",
    footer: SWITCH_OFF,
  }),
  week: ({ project, current, previous }) => ({
    subject: `${project}: ${counted(current.emails, "correo", "correos")} la semana pasada`,
    blocks: [
      `Del ${day(current.startDate)} al ${day(current.endDate)}, con la semana anterior entre paréntesis:`,
      {
        points: [
          `Enviados: ${number(current.emails)} (${number(previous.emails)})`,
          `Abiertos por personas: ${number(current.opens)} (${number(previous.opens)})`,
          `Con clics: ${number(current.clicks)} (${number(previous.clicks)})`,
          `Devueltos: ${number(current.bounces)} (${number(previous.bounces)})`,
          `Quejas: ${number(current.complaints)} (${number(previous.complaints)})`,
        ],
      },
    ],
    label: "Abrir los informes",
    footer: `Usted pidió este mensaje. ${SWITCH_OFF}`,
  }),
  passedOn: ({ recipient, from, subject, text }) => ({
    subject: `[${recipient}] ${subject}`,
    blocks: [`${from} escribió a ${recipient}:`, { quote: text }],
    footer: "Nadie ha comprobado quién escribió esto. Para responder, escriba a esa dirección.",
  }),
  test: () => ({
    subject: "Correo de prueba de Postloft",
    blocks: ["Este es un correo de prueba. Lo pidió quien administra esta instalación de Postloft."],
  }),
};
