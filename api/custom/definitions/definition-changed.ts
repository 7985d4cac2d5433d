// Says that the definition a custom object was looked at by is no longer the newest, or is gone. Whoever began by it begins again
// (actors/admission/admission.ts).
export class DefinitionChanged extends Error {}
