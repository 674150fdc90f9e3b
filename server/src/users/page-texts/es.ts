// Account pages that work without the dashboard, in Spanish.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { PageTexts } from "./en.ts";

const { passwordMinimum, passwordMaximum } = LIMITS;

export const ES: PageTexts = {
  verify: {
    title: "Confirme su dirección de correo",
    about: "Abrió un enlace de un correo enviado a esta dirección. Confirme que la dirección es suya.",
    action: "Confirmar dirección",
  },
  verified: {
    title: "Confirmada",
    about: ({ email }) => `${email} está confirmada. Puede cerrar esta página.`,
  },
  signUp: {
    title: "Cree su cuenta",
    label: "Elija una contraseña",
    action: "Crear cuenta",
    note: "La cuenta se crea con la dirección a la que se envió este enlace.",
  },
  signedUp: {
    title: "Su cuenta está lista",
    about: ({ email }) => `Se creó la cuenta ${email}.`,
    action: "Iniciar sesión",
  },
  reset: {
    title: "Establecer una contraseña nueva",
    label: "Contraseña nueva",
    action: "Establecer la contraseña",
    note: "Se cerrará su sesión en todas partes.",
  },
  resetDone: {
    title: "Contraseña establecida",
    about: "Inicie sesión con la contraseña nueva. Puede cerrar esta página.",
  },
  problem: { title: "No ha funcionado" },
  code: {
    title: "Autenticación de dos factores",
    label: "Código de la aplicación, o un código de recuperación",
    action: "Iniciar sesión",
    passkey: "Usar una clave de acceso en su lugar",
    noPasskey: "No se eligió ninguna clave de acceso, o tardó demasiado.",
  },
  refusals: {
    TOKEN_INVALID: "Este enlace ya no es válido. Pida uno nuevo.",
    RATE_LIMIT_EXCEEDED: "Demasiados intentos. Espere un poco y vuelva a intentarlo.",
    SIGNUPS_DISABLED: "Aquí nadie puede crear una cuenta.",
    UNAUTHORIZED: "Inicie sesión primero y vuelva a intentarlo.",
  },
  problems: {
    password: `Elija otra contraseña: de ${passwordMinimum.value} a ${passwordMaximum.value} caracteres, que no sea de las más comunes, ni su dirección, ni Postloft, ni el nombre de un proyecto.`,
    addressTaken: "Esta dirección de correo ya tiene una cuenta. Inicie sesión.",
    staleFlow: "Este inicio de sesión ha caducado o se empezó en otro navegador. Empiece de nuevo.",
    noSuchService: "El inicio de sesión con este servicio no está activado.",
    oldSession: "Cierre la sesión, vuelva a iniciarla y conecte el servicio en la hora siguiente.",
    notThisPasskey: "Esta clave de acceso pertenece a otra cuenta. Pruebe con otra o introduzca un código.",
    wrongCode: "El código es incorrecto, o ya se usó.",
    oddId: ({ service }) => `${service} devolvió un identificador no válido.`,
    unproved: ({ service }) =>
      `${service} no tiene ninguna dirección de correo verificada de usted. Verifique la suya allí y vuelva a intentarlo.`,
    denied: ({ service }) => `No permitió que ${service} iniciara su sesión.`,
    refused: ({ service }) => `${service} se negó a iniciar su sesión. Vuelva a intentarlo.`,
    staleAnswer: ({ service }) => `La respuesta de ${service} no es válida o ha caducado. Empiece de nuevo.`,
    unreachable: ({ service }) =>
      `${service} no está disponible o no responde correctamente. Vuelva a intentarlo en un minuto.`,
    unconfirmed: ({ email }) =>
      `La cuenta ${email} nunca confirmó su dirección. Inicie sesión con su contraseña y confirme primero la dirección, o pregunte a la administración de este servidor.`,
    otherAccount: ({ service }) =>
      `Esta cuenta de ${service} está conectada con otra cuenta de Postloft. Inicie sesión en esa cuenta o desconéctela allí.`,
  },
};
