// Spanish texts of the public pages and the marketing email footer. en.ts defines the keys.
// Not reviewed by a native speaker yet.
import type { PageTexts } from "./en.ts";

export const es: PageTexts = {
  unsubscribeTitle: "¿Desea darse de baja?",
  unsubscribeText: "{email} dejará de recibir los boletines de {project}.",
  unsubscribeButton: "Darse de baja",
  unsubscribedTitle: "Se ha dado de baja",
  unsubscribedText: "{email} ya no recibe los boletines de {project}.",
  accountNote: "Los mensajes sobre su cuenta o sus pedidos no se ven afectados.",
  keptNote:
    "Esta dirección ya no está en la lista de contactos. Seguirá dada de baja aunque se vuelva a añadir.",
  undoButton: "Deshacer",
  subscribeTitle: "¿Desea suscribirse?",
  subscribeText: "{email} recibirá los boletines de {project}.",
  subscribeButton: "Suscribirse",
  subscribedTitle: "Su suscripción está activa",
  subscribedText: "{email} recibe los boletines de {project}.",
  manageTitle: "Su suscripción",
  manageLink: "Gestionar la suscripción",
  invalidTitle: "Este enlace no funciona",
  invalidText: "Está incompleto o no es válido. Vuelva a abrir el enlace desde el correo electrónico.",
  goneTitle: "No se guarda ningún dato sobre usted",
  goneText: "La dirección para la que se creó este enlace ya no está guardada aquí y no recibe boletines.",
  trialTitle: "Este enlace es solo de muestra",
  trialText: "Está en un correo de prueba o en una vista previa: no pertenece a nadie y no cambia nada.",
  problemTitle: "No ha funcionado",
  problemText: "No se ha cambiado nada. Inténtelo de nuevo en unos instantes.",
  oftenText: "Esto se ha cambiado muchas veces. Inténtelo de nuevo más tarde.",
  footerReason: "Recibe este correo electrónico porque se ha suscrito a los boletines de {project}.",
};
