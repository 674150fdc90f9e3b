// The error thrown by every step of prepare.js, which prints the message and exits with code 1.

/** An expected failure with a complete message for the user who ran `npm start`. */
export class PreparationError extends Error {
  name = "PreparationError";
}
