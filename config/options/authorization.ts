// What a request may do: the authorizers and their settings.
import { ALL_PROGRAMS, optionGroup, SCHEDULER, SERVER } from './option.ts';

export const authorizationOptions = optionGroup('Authorization', SERVER, [
  {
    name: 'authorization-mode',
    type: 'list',
    default: 'AlwaysAllow',
    defaultFor: { up: 'Node,RBAC' },
    values: ['AlwaysAllow', 'AlwaysDeny', 'ABAC', 'Webhook', 'RBAC', 'Node'],
    description: 'Authorizers in the order they are asked, after the superusers.',
    effect: ['in force', 'who gets 403'],
  },
  {
    name: 'authorization-policy-file',
    type: 'path',
    description: 'Policy of the mode ABAC, one JSON object a line.',
    effect: ['in force', 'what the lines of the file allow'],
  },
  {
    name: 'authorization-webhook-config-file',
    type: 'path',
    description: 'Connection file of the mode Webhook.',
    effect: ['in force', 'who is asked about access'],
  },
  {
    name: 'authorization-webhook-version',
    type: 'string',
    default: 'v1beta1',
    values: ['v1beta1', 'v1'],
    description: 'Version of the access reviews exchanged with the webhook.',
    effect: ['in force', 'the form of the questions'],
  },
]);

export const delegatedAuthorizationOptions = optionGroup('Authorization', ALL_PROGRAMS, [
  {
    name: 'authorization-webhook-cache-authorized-ttl',
    type: 'duration',
    default: '5m0s',
    defaultFor: { scheduler: '10s' },
    description: 'Time a yes of the webhook is remembered.',
    effect: ['in force', 'how long a yes holds'],
  },
  {
    name: 'authorization-webhook-cache-unauthorized-ttl',
    type: 'duration',
    default: '30s',
    defaultFor: { scheduler: '10s' },
    description: 'Time a no of the webhook is remembered.',
    effect: ['in force', 'how long a no holds'],
  },
]);

export const schedulerAuthorizationOptions = optionGroup('Authorization', SCHEDULER, [
  {
    name: 'authorization-orchconfig',
    type: 'path',
    aliases: ['authorization-kubeconfig'],
    description: 'Connection file of the server asked about access; blank forbids all that is not always allowed.',
    effect: ['in force', 'who is asked about access'],
  },
  {
    name: 'authorization-always-allow-paths',
    type: 'list',
    default: '/healthz,/readyz,/livez',
    form: { pattern: /^[^*]*\*?$/, says: '/path or /path* (only trailing * allowed)' },
    description: 'Paths open to everybody.',
    effect: ['in force', 'which paths anyone may ask for'],
  },
]);
