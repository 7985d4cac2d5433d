// How long a token may be asked for, wherever one is.
import type { Rule } from '../rule.ts';

const SECONDS_MIN = 600;
const SECONDS_MAX = 2 ** 32;

export const tokenSeconds: Rule<number> = (seconds, at) => {
  if (seconds < SECONDS_MIN) at.invalid('', seconds, 'may not specify a duration less than 10 minutes');
  if (seconds > SECONDS_MAX) at.invalid('', seconds, 'may not specify a duration larger than 2^32 seconds');
};
