// The authorizers of `--authorization-mode`, one row each, and the chain a server asks. An authorizer that needs more than
// a line has a file of its own beside this one.
import { SUPERUSERS } from '../protocol.ts';
import { ALLOW, type Authorizer, AuthorizerChain, EVERYTHING, NO_OPINION, NO_RULES, type Rules } from './authorizer.ts';

/** Open to everyone who was let in: what a load balancer and a client must see before they can do anything. */
const OPEN_PATHS: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/']);
const OPEN_RULES: Rules = {
  resourceRules: [],
  nonResourceRules: [{ verbs: ['get'], nonResourceURLs: [...OPEN_PATHS] }],
};
const READING: ReadonlySet<string> = new Set(['get', 'head']);

/** Goes before every mode: its group is never locked out. */
const superusers: Authorizer = {
  name: 'superusers',
  decide: ({ groups }) => (groups.includes(SUPERUSERS) ? ALLOW : NO_OPINION),
  rules: ({ groups }) => (groups.includes(SUPERUSERS) ? EVERYTHING : NO_RULES),
};

/** Where only superusers may do anything, everyone else may still read the open paths. */
const openPaths: Authorizer = {
  name: 'openPaths',
  decide: (_user, { isResource, verb, path }) =>
    !isResource && READING.has(verb) && OPEN_PATHS.has(path) ? ALLOW : NO_OPINION,
  rules: () => OPEN_RULES,
};

const alwaysAllow: Authorizer = { name: 'AlwaysAllow', decide: () => ALLOW, rules: () => EVERYTHING };

const alwaysDeny: Authorizer = {
  name: 'AlwaysDeny',
  decide: () => ({ decision: 'noOpinion', reason: 'Everything is forbidden.' }),
  rules: () => NO_RULES,
};

const BY_MODE = {
  AlwaysAllow: alwaysAllow,
  AlwaysDeny: alwaysDeny,
  SuperusersOnly: openPaths,
} as const satisfies Readonly<Record<string, Authorizer>>;

/** The modes in force. */
export type AuthorizationMode = keyof typeof BY_MODE;
export const AUTHORIZATION_MODES: readonly string[] = Object.keys(BY_MODE);

/** The superusers, then the modes in the operator's order. */
export function authorizerChain(modes: readonly AuthorizationMode[]): AuthorizerChain {
  return new AuthorizerChain([superusers, ...modes.map((mode) => BY_MODE[mode])]);
}
