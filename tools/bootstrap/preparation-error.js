// Thrown by every step of prepare.js; prepare.js prints the message and ends with code 1.

/** An expected failure; its message is complete and meant for whoever typed `npm start`. */
export class PreparationError extends Error {
  name = "PreparationError";
}
