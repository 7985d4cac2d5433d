// The authorizers of `--authorization-mode`, one row each, and the chain a server asks. An authorizer that needs more than
// a line has a file of its own beside this one.

import { parseAbacPolicy } from '../../../api/authorization/abac-policy.ts';
import { SUPERUSERS } from '../../../api/authorization/attributes.ts';
import type { Dialect } from '../../../config/dialect.ts';
import { AbacAuthorizer } from './abac.ts';
import { ALLOW, type Authorizer, AuthorizerChain, EVERYTHING, NO_OPINION, NO_RULES } from './authorizer.ts';
import type { MeasuredWorld } from './graph-times.ts';
import { NodeAuthorizer } from './node.ts';
import { RbacAuthorizer } from './rbac.ts';
import { WebhookAuthorizer, type WebhookAuthorizerSettings } from './webhook.ts';

/** Goes before every mode: its group is never locked out. */
const superusers: Authorizer = {
  decide: ({ groups }) => (groups.includes(SUPERUSERS) ? ALLOW : NO_OPINION),
  // What they hold by roles is listed, as that of others.
  rules: () => NO_RULES,
};

const alwaysAllow: Authorizer = { decide: () => ALLOW, rules: () => EVERYTHING };

const alwaysDeny: Authorizer = {
  decide: () => ({ decision: 'noOpinion', reason: 'Everything is forbidden.' }),
  rules: () => NO_RULES,
};

/** What the authorizers of a server are made from. */
export interface AuthorizerSettings {
  readonly dialect: Dialect;
  readonly abacPolicy: string;
  readonly world: MeasuredWorld;
  /** Absent: there is no webhook to ask. */
  readonly webhook: WebhookAuthorizerSettings | undefined;
}

const BY_MODE = {
  AlwaysAllow: () => alwaysAllow,
  AlwaysDeny: () => alwaysDeny,
  ABAC: ({ dialect, abacPolicy }) =>
    new AbacAuthorizer(parseAbacPolicy(abacPolicy, dialect.spell('abac.authorization.@label'))),
  Node: ({ dialect, world }) => new NodeAuthorizer(dialect, world),
  RBAC: ({ dialect }) => new RbacAuthorizer(dialect),
  // The options see to it that there is one.
  Webhook: ({ webhook }) => (webhook === undefined ? alwaysDeny : new WebhookAuthorizer(webhook)),
} as const satisfies Readonly<Record<string, (settings: AuthorizerSettings) => Authorizer>>;

/** The modes in force. */
export type AuthorizationMode = keyof typeof BY_MODE;

/** The superusers, then the modes in the operator's order. */
export function authorizerChain(modes: readonly AuthorizationMode[], settings: AuthorizerSettings): AuthorizerChain {
  return new AuthorizerChain([superusers, ...modes.map((mode) => BY_MODE[mode](settings))]);
}
