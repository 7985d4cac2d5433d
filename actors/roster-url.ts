// Where a thread finds the actors' code, whether the modules stand alone or are packed into one file.
/** The address of the module that exports `roster`. */
export const ROSTER_URL = new URL('./roster.js', import.meta.url).href;
