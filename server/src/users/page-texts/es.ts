// What stands on the pages before and behind a login, in Spanish. Before it: account-pages.ts. After it: nothing.
import { LIMITS } from "@postloft/contract/limits.ts";
import type { PageTexts } from "./en.ts";

const { passwordMinimum, passwordMaximum } = LIMITS;

export const ES: PageTexts = {
  verify: {
    title: "Confirme su dirección de correo",
    about: "Este enlace llegó a su dirección. Confirme que es suya.",
    action: "Sí, es mía",
  },
  verified: {
    title: "Confirmada",
    about: ({ email }) => `${email} está confirmada. Puede cerrar esta página.`,
  },
  reset: {
    title: "Establecer una contraseña nueva",
    label: "Contraseña nueva",
    action: "Establecer la contraseña",
    note: "Se cierran todas las sesiones de la cuenta.",
  },
  resetDone: {
    title: "Su contraseña está establecida",
    about: "Inicie sesión con ella. Puede cerrar esta página.",
  },
  problem: { title: "No ha funcionado" },
  code: {
    title: "Su segundo factor",
    label: "Código de la aplicación, o un código de recuperación",
    action: "Iniciar sesión",
    passkey: "Usar una clave de acceso en su lugar",
    noPasskey: "No se eligió ninguna clave de acceso, o tardó demasiado.",
  },
  refusals: {
    TOKEN_INVALID: "El enlace no es válido (o ya no lo es). Pida uno nuevo.",
    RATE_LIMIT_EXCEEDED: "Demasiados intentos. Espere un poco y vuelva a intentarlo.",
    SIGNUPS_DISABLED: "Aquí nadie puede crear una cuenta.",
    UNAUTHORIZED: "Inicie sesión primero y vuelva a intentarlo.",
  },
  problems: {
    password: `Elija otra: de ${passwordMinimum.value} a ${passwordMaximum.value} caracteres, ninguna de las más comunes y que no sea su dirección.`,
    addressTaken: "Esta dirección de correo ya tiene una cuenta.",
    staleFlow:
      "Este inicio de sesión se empezó en otro navegador, o hace demasiado tiempo. Empiece de nuevo.",
    noSuchService: "Nadie inicia sesión aquí con este servicio.",
    oldSession:
      "Cierre la sesión, vuelva a iniciarla y conecte el servicio en la hora siguiente: un servicio conectado abre su cuenta.",
    notThisPasskey: "Esta clave de acceso no es de esta cuenta. Pruebe con otra, o dé un código.",
    wrongCode: "El código es incorrecto, o ya se usó.",
    oddId: ({ service }) => `${service} le da un identificador que nadie puede tener.`,
    unproved: ({ service }) =>
      `${service} no tiene ninguna dirección de correo verificada de usted. Verifique la suya allí y vuelva a intentarlo.`,
    denied: ({ service }) => `No permitió que ${service} iniciara su sesión.`,
    refused: ({ service }) => `${service} se negó a iniciar su sesión. Vuelva a intentarlo.`,
    staleAnswer: ({ service }) =>
      `La respuesta de ${service} no es válida (o ya no lo es). Empiece de nuevo.`,
    unreachable: ({ service }) =>
      `No se puede llegar a ${service}, o no responde como debe. Vuelva a intentarlo en un minuto.`,
    unconfirmed: ({ email }) =>
      `Hay una cuenta ${email} cuya dirección nunca se confirmó. Establezca para ella una contraseña nueva por correo, lo que la confirma; después vuelva a intentarlo.`,
    otherAccount: ({ service }) =>
      `Esta persona de ${service} está conectada con otra cuenta. Inicie sesión en aquella, o desconéctela allí.`,
  },
};
