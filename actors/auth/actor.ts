// Authentication and authorization as part of the server: their options, out of the server's settings.
import { DIALECTS } from '../../config/dialect.ts';
import { type DefineActor, withSettings } from '../define.ts';
import type { ServerSettings } from '../server-settings.ts';
import { type AuthOptions, authActor } from './auth.ts';
import type { AuthorizationMode } from './authorizers/modes.ts';

export const define: DefineActor = () => withSettings(authActor, authOptions);

function authOptions({
  dialect,
  options,
  tokens,
  serviceAccounts,
  authMethods,
  authorityFiles,
}: ServerSettings): AuthOptions {
  return {
    methods: authMethods ?? {},
    ...(authorityFiles === undefined ? {} : { authorityFiles }),
    tokens,
    dialect: DIALECTS[dialect],
    serviceAccounts,
    anonymous: options.anonymousAuth,
    // The option table refuses modes that are not in force.
    modes: options.authorizationMode as readonly AuthorizationMode[],
  };
}
