// Emails about accounts, in Spanish.
import type { Place } from "../place.ts";
import type { AccountMailTexts } from "./en.ts";

const at = ({ device, ip }: Place) =>
  `${device ?? "dispositivo desconocido"}, dirección IP ${ip ?? "desconocida"}`;
const IGNORE = "Si no fue usted, ignore este correo.";
const SECURE = "Si no fue usted, cambie su contraseña enseguida y revise su cuenta.";
const ONCE = (hours: string) => `El enlace funciona una sola vez, durante ${hours} horas.`;
const NOT_YOURS = "Si usted no creó esta cuenta, no la confirme.";

export const ES: AccountMailTexts = {
  signUp: ({ email, place, hours }) => ({
    subject: "Cree su cuenta de Postloft",
    blocks: [
      `Alguien quiere crear una cuenta de Postloft para ${email} (${at(place)}).`,
      "Si fue usted, elija una contraseña para crearla.",
    ],
    label: "Elegir contraseña",
    footer: `${ONCE(hours)} ${IGNORE} Sin el enlace no se crea ninguna cuenta.`,
  }),
  knownAddress: ({ email, place, resetUrl }) => ({
    subject: "Ya tiene una cuenta de Postloft",
    blocks: [
      `Alguien intentó registrarse con ${email} (${at(place)}). Esta dirección ya tiene una cuenta, así que no se creó nada.`,
      `Si fue usted, inicie sesión. Si olvidó su contraseña, restablézcala: ${resetUrl}`,
    ],
    label: "Iniciar sesión",
    footer: IGNORE,
  }),
  verifyNew: ({ email, place, hours }) => ({
    subject: "Confirme su dirección de correo",
    blocks: [
      `Se creó una cuenta de Postloft para ${email} (${at(place)}). Confirme que esta es su dirección.`,
    ],
    label: "Confirmar dirección",
    footer: `${ONCE(hours)} ${NOT_YOURS}`,
  }),
  verifyAgain: ({ email, place, hours }) => ({
    subject: "Confirme su dirección de correo",
    blocks: [
      `La cuenta ${email} pidió confirmar su dirección (${at(place)}). Confirme que esta es su dirección.`,
    ],
    label: "Confirmar dirección",
    footer: `${ONCE(hours)} ${NOT_YOURS}`,
  }),
  verifyChange: ({ email, place, hours, newEmail }) => ({
    subject: "Confirme su nueva dirección de correo",
    blocks: [
      `La cuenta de Postloft ${email} pidió cambiar su dirección de correo a ${newEmail} (${at(place)}).`,
      "Confírmelo solo si la cuenta es suya.",
    ],
    label: "Confirmar dirección",
    footer: `${ONCE(hours)} ${IGNORE}`,
  }),
  addressChange: ({ email, place, newEmail }) => ({
    subject: "Su dirección de correo va a cambiar",
    blocks: [
      `Alguien pidió cambiar la dirección de correo de su cuenta de ${email} a ${newEmail} (${at(place)}). Cambia cuando se confirma la nueva dirección.`,
    ],
    footer: SECURE,
  }),
  passwordReset: ({ email, place, minutes }) => ({
    subject: "Restablezca su contraseña",
    blocks: [`Alguien pidió una contraseña nueva para la cuenta ${email} (${at(place)}).`],
    label: "Elegir una contraseña nueva",
    footer: `El enlace funciona una sola vez, durante ${minutes} minutos. ${IGNORE} Su contraseña no cambia.`,
  }),
  unconfirmedReset: ({ email, place }) => ({
    subject: "Su contraseña no se puede restablecer por correo",
    blocks: [
      `Alguien pidió una contraseña nueva para la cuenta ${email} (${at(place)}). Su dirección nunca se confirmó, así que no sabemos quién la creó.`,
      "Si la creó usted, inicie sesión y confirme la dirección, o pida una contraseña nueva a la administración de este servidor (npm run admin -- reset-password).",
    ],
    footer: IGNORE,
  }),
  passwordChanged: ({ email }) => ({
    subject: "Se cambió su contraseña",
    blocks: [`La contraseña de la cuenta ${email} se cambió. Todas las demás sesiones terminaron.`],
    footer: "Si no fue usted, restablezca su contraseña enseguida. Quien lo hizo conocía la anterior.",
  }),
  newSignIn: ({ email, place, at: when }) => ({
    subject: "Nuevo inicio de sesión en su cuenta",
    blocks: [`Su cuenta ${email} se usó en un dispositivo nuevo el ${when}: ${at(place)}.`],
    footer: "Si no fue usted, cambie su contraseña enseguida. Eso cierra todas las demás sesiones.",
  }),
  secondFactorOn: ({ email }) => ({
    subject: "La autenticación de dos factores está activada",
    blocks: [
      `Iniciar sesión en la cuenta ${email} pide ahora un código de una aplicación de autenticación. Todas las demás sesiones terminaron.`,
    ],
    footer: SECURE,
  }),
  secondFactorOff: ({ email }) => ({
    subject: "La autenticación de dos factores está desactivada",
    blocks: [`Iniciar sesión en la cuenta ${email} pide de nuevo solo la contraseña.`],
    footer: SECURE,
  }),
  recoveryCodesRenewed: ({ email }) => ({
    subject: "Se reemplazaron sus códigos de recuperación",
    blocks: [`La cuenta ${email} tiene códigos de recuperación nuevos. Los anteriores ya no sirven.`],
    footer: SECURE,
  }),
  connected: ({ email, service }) => ({
    subject: `Su cuenta está conectada con ${service}`,
    blocks: [`Ahora puede iniciar sesión en la cuenta ${email} con ${service}.`],
    footer: SECURE,
  }),
  disconnected: ({ email, service }) => ({
    subject: `Su cuenta ya no está conectada con ${service}`,
    blocks: [`${service} ya no inicia sesión en la cuenta ${email}.`],
    footer: SECURE,
  }),
  passkeyAdded: ({ email, name }) => ({
    subject: "Se añadió una llave de acceso a su cuenta",
    blocks: [`La llave de acceso «${name}» inicia ahora sesión en la cuenta ${email}, sin contraseña.`],
    footer: SECURE,
  }),
  passkeyRemoved: ({ email, name }) => ({
    subject: "Se quitó una llave de acceso de su cuenta",
    blocks: [`La llave de acceso «${name}» ya no inicia sesión en la cuenta ${email}.`],
    footer: SECURE,
  }),
  accountDeleted: ({ email, place }) => ({
    subject: "Su cuenta se eliminó",
    blocks: [`La cuenta de Postloft ${email} se eliminó (${at(place)}).`],
    footer: "Si no fue usted, avise a la administración de este servidor.",
  }),
};
