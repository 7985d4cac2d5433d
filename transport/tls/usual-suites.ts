// Node's own suites, for whoever has no choice of suites: the listener where the operator names none, and what we call.
import { DEFAULT_CIPHERS } from 'node:tls';
import { atUsualLevel } from '../../values/security-level.ts';

export const USUAL_SUITES = atUsualLevel(DEFAULT_CIPHERS);
