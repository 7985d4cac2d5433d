// Services: their endpoints go when they go.
import type { Strategy } from '../strategy.ts';

export const service: Strategy = { companion: 'core/endpoints' };
