// What people are told about their accounts, in Spanish. Before it: account-mails.ts. After it: nothing.
import type { AccountMailTexts } from "./en.ts";

const CHANGE_AT_ONCE = "Si no fue usted, cambie su contraseña enseguida: quien lo hizo la conoce.";
const LOOK_AT_ACCOUNT = "Si no fue usted, cambie su contraseña enseguida y revise su cuenta.";
const LOOK_AT_PASSKEYS =
  "Si no fue usted, cambie su contraseña enseguida y revise las llaves de acceso de su cuenta.";
const NOT_YOU = "Si no fue usted, no haga nada: sin el enlace no cambia nada.";

export const ES: AccountMailTexts = {
  verification: {
    subject: "Confirme su dirección de correo",
    body: ({ email }) => `${email} es la dirección de una cuenta, o va a serlo. ¿Es suya?`,
    action: "Sí, es mía",
    footer: ({ hours }) => `El enlace vale ${hours} horas. ${NOT_YOU}`,
  },
  knownAddress: {
    subject: "Ya tiene una cuenta",
    body: ({ email }) =>
      `Alguien se registró con ${email}, la dirección de su cuenta. Si fue usted, inicie sesión en esa cuenta; si olvidó su contraseña, allí puede elegir una nueva.`,
    action: "Iniciar sesión",
    footer:
      "El registro creó otra cuenta, que no puede quedarse con su dirección. Si no fue usted, no haga nada: nadie entra así en su cuenta.",
  },
  passwordReset: {
    subject: "Elija una contraseña nueva",
    body: ({ email }) => `Se pidió una contraseña nueva para la cuenta ${email}.`,
    action: "Elegir una contraseña nueva",
    footer: ({ minutes }) => `El enlace funciona una sola vez, durante ${minutes} minutos. ${NOT_YOU}`,
  },
  passwordChanged: {
    subject: "Se cambió su contraseña",
    body: ({ email }) =>
      `La contraseña de la cuenta ${email} se cambió, y todas las demás sesiones terminaron.`,
    footer: "Si no fue usted, pida enseguida una contraseña nueva: quien lo hizo conoce la anterior.",
  },
  addressChange: {
    subject: "Se pidió cambiar su dirección de correo",
    body: ({ email, newEmail }) =>
      `La cuenta ${email} va a tener la dirección ${newEmail}. Cambia cuando se abre el enlace del mensaje enviado allí.`,
    footer: CHANGE_AT_ONCE,
  },
  secondFactorOn: {
    subject: "Su segundo factor está activado",
    body: ({ email }) =>
      `Iniciar sesión en la cuenta ${email} pide ahora un código de una aplicación de autenticación. Todas las demás sesiones terminaron.`,
    footer: CHANGE_AT_ONCE,
  },
  secondFactorOff: {
    subject: "Su segundo factor está desactivado",
    body: ({ email }) => `Iniciar sesión en la cuenta ${email} pide de nuevo solo la contraseña.`,
    footer: CHANGE_AT_ONCE,
  },
  connected: {
    subject: ({ service }) => `Su cuenta está conectada con ${service}`,
    body: ({ email, service }) =>
      `Quien inicia sesión en ${service} como usted entra ahora también en la cuenta ${email}.`,
    footer: LOOK_AT_ACCOUNT,
  },
  disconnected: {
    subject: ({ service }) => `Su cuenta ya no está conectada con ${service}`,
    body: ({ email, service }) => `Ya nadie entra en la cuenta ${email} a través de ${service}.`,
    footer: LOOK_AT_ACCOUNT,
  },
  passkeyAdded: {
    subject: "Se añadió una llave de acceso a su cuenta",
    body: ({ email, name }) =>
      `La llave de acceso «${name}» inicia ahora sesión en la cuenta ${email} sin contraseña.`,
    footer: LOOK_AT_PASSKEYS,
  },
  passkeyRemoved: {
    subject: "Se quitó una llave de acceso de su cuenta",
    body: ({ email, name }) => `La llave de acceso «${name}» ya no inicia sesión en la cuenta ${email}.`,
    footer: LOOK_AT_PASSKEYS,
  },
};
