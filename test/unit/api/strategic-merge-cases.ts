// Strategic merge patches without directives, one a row: what merging by the schema makes of an object.
import type { JsonObject } from '../../../api/json/json-value.ts';

export const POD_SPEC = 'core/v1.PodSpec';
export const CONTAINER = 'core/v1.Container';
export const META = 'meta/v1.ObjectMeta';

export interface Case {
  readonly does: string;
  readonly type: string | undefined;
  readonly document: JsonObject;
  readonly patch: unknown;
  /** The result, or the code of the refusal. */
  readonly expected: JsonObject | number;
}

export const MERGES: readonly Case[] = [
  {
    does: 'merges objects and leaves the rest',
    type: 'core/v1.Pod',
    document: { spec: { nodeName: 'n', hostname: 'h' }, metadata: { name: 'a' } },
    patch: { spec: { hostname: 'i' } },
    expected: { spec: { nodeName: 'n', hostname: 'i' }, metadata: { name: 'a' } },
  },
  {
    does: 'removes members that are null',
    type: POD_SPEC,
    document: { nodeName: 'n', hostname: 'h' },
    patch: { nodeName: null, subdomain: null },
    expected: { hostname: 'h' },
  },
  {
    does: 'drops nulls below what is new',
    type: 'core/v1.Pod',
    document: {},
    patch: { spec: { nodeName: null, hostname: 'h', securityContext: { runAsUser: null } } },
    expected: { spec: { hostname: 'h', securityContext: {} } },
  },
  {
    does: 'merges maps and removes their keys',
    type: META,
    document: { labels: { a: '1', b: '2' } },
    patch: { labels: { b: null, c: '3' } },
    expected: { labels: { a: '1', c: '3' } },
  },
  {
    does: 'merges elements by their key and puts new ones in front of those it does not name',
    type: POD_SPEC,
    document: {
      containers: [
        { name: 'a', image: 'a:1', stdin: true },
        { name: 'b', image: 'b:1' },
      ],
    },
    patch: { containers: [{ name: 'a', image: 'a:2' }, { name: 'c' }] },
    expected: { containers: [{ name: 'a', image: 'a:2', stdin: true }, { name: 'c' }, { name: 'b', image: 'b:1' }] },
  },
  {
    does: 'keeps an element that it does not name before the one it stood before',
    type: POD_SPEC,
    document: { containers: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] },
    patch: { containers: [{ name: 'b', image: 'x' }] },
    expected: { containers: [{ name: 'a' }, { name: 'b', image: 'x' }, { name: 'c' }] },
  },
  {
    does: 'creates a merging list',
    type: POD_SPEC,
    document: {},
    patch: { containers: [{ name: 'a', image: null, stdin: true }] },
    expected: { containers: [{ name: 'a', stdin: true }] },
  },
  {
    does: 'leaves a list be when merging an empty one',
    type: POD_SPEC,
    document: { containers: [{ name: 'a' }] },
    patch: { containers: [] },
    expected: { containers: [{ name: 'a' }] },
  },
  {
    does: 'removes a list by null',
    type: POD_SPEC,
    document: { volumes: [{ name: 'a' }] },
    patch: { volumes: null },
    expected: {},
  },
  {
    does: 'replaces lists that do not merge',
    type: CONTAINER,
    document: { args: ['a', 'b'] },
    patch: { args: ['c'] },
    expected: { args: ['c'] },
  },
  {
    does: 'replaces lists of objects without a merge key',
    type: POD_SPEC,
    document: { tolerations: [{ key: 'a' }] },
    patch: { tolerations: [{ key: 'b' }] },
    expected: { tolerations: [{ key: 'b' }] },
  },
  {
    does: 'merges lists of scalars as sets',
    type: META,
    document: { finalizers: ['a', 'b'] },
    patch: { finalizers: ['c', 'a'] },
    expected: { finalizers: ['c', 'a', 'b'] },
  },
  {
    does: 'merges lists inside elements',
    type: POD_SPEC,
    document: { containers: [{ name: 'a', env: [{ name: 'X', value: '1' }] }] },
    patch: {
      containers: [
        {
          name: 'a',
          env: [
            { name: 'X', value: '2' },
            { name: 'Y', value: '3' },
          ],
        },
      ],
    },
    expected: {
      containers: [
        {
          name: 'a',
          env: [
            { name: 'X', value: '2' },
            { name: 'Y', value: '3' },
          ],
        },
      ],
    },
  },
  {
    does: 'merges elements by numbers',
    type: CONTAINER,
    document: { ports: [{ containerPort: 80, name: 'http' }] },
    patch: { ports: [{ containerPort: 80, hostPort: 8080 }, { containerPort: 81 }] },
    expected: { ports: [{ containerPort: 80, name: 'http', hostPort: 8080 }, { containerPort: 81 }] },
  },
  {
    does: 'tells a number from a text',
    type: CONTAINER,
    document: { ports: [{ containerPort: 80 }] },
    patch: { ports: [{ containerPort: '80', name: 'x' }] },
    expected: { ports: [{ containerPort: '80', name: 'x' }, { containerPort: 80 }] },
  },
  {
    does: 'merges into the port of the same protocol where numbers repeat',
    type: CONTAINER,
    document: {
      ports: [
        { containerPort: 53, protocol: 'TCP', name: 't' },
        { containerPort: 53, protocol: 'UDP', name: 'u' },
      ],
    },
    patch: { ports: [{ containerPort: 53, protocol: 'UDP', name: 'v' }] },
    expected: {
      ports: [
        { containerPort: 53, protocol: 'TCP', name: 't' },
        { containerPort: 53, protocol: 'UDP', name: 'v' },
      ],
    },
  },
  {
    does: 'takes a port without protocol for one of the default protocol',
    type: CONTAINER,
    document: {
      ports: [
        { containerPort: 53, protocol: 'UDP', name: 'u' },
        { containerPort: 53, protocol: 'TCP', name: 't' },
      ],
    },
    patch: { ports: [{ containerPort: 53, name: 'v' }] },
    expected: {
      ports: [
        { containerPort: 53, protocol: 'UDP', name: 'u' },
        { containerPort: 53, protocol: 'TCP', name: 'v' },
      ],
    },
  },
  {
    does: 'adds two ports of one number',
    type: CONTAINER,
    document: {},
    patch: {
      ports: [
        { containerPort: 53, protocol: 'TCP' },
        { containerPort: 53, protocol: 'UDP' },
      ],
    },
    expected: {
      ports: [
        { containerPort: 53, protocol: 'TCP' },
        { containerPort: 53, protocol: 'UDP' },
      ],
    },
  },
  {
    does: 'merges no two of its elements into one that was there',
    type: CONTAINER,
    document: {
      ports: [
        { containerPort: 53, protocol: 'TCP', name: 't' },
        { containerPort: 53, protocol: 'UDP', name: 'u' },
      ],
    },
    patch: {
      ports: [
        { containerPort: 53, protocol: 'TCP' },
        { containerPort: 53, protocol: 'SCTP' },
      ],
    },
    expected: {
      ports: [
        { containerPort: 53, protocol: 'TCP', name: 't' },
        { containerPort: 53, protocol: 'SCTP', name: 'u' },
      ],
    },
  },
  {
    does: 'adds the port of a protocol that another of its elements has changed',
    type: CONTAINER,
    document: { ports: [{ containerPort: 53, protocol: 'TCP', name: 't' }] },
    patch: {
      ports: [
        { containerPort: 53, protocol: 'SCTP' },
        { containerPort: 53, protocol: 'TCP' },
      ],
    },
    expected: {
      ports: [
        { containerPort: 53, protocol: 'SCTP', name: 't' },
        { containerPort: 53, protocol: 'TCP' },
      ],
    },
  },
  {
    does: 'changes the protocol of the only port of a number',
    type: CONTAINER,
    document: { ports: [{ containerPort: 53, protocol: 'TCP', name: 'dns' }] },
    patch: { ports: [{ containerPort: 53, protocol: 'UDP' }] },
    expected: { ports: [{ containerPort: 53, protocol: 'UDP', name: 'dns' }] },
  },
  {
    does: 'keeps one of repeated scalars',
    type: META,
    document: { finalizers: ['a', 'a', 'b'] },
    patch: { finalizers: ['b', 'b'] },
    expected: { finalizers: ['a', 'b'] },
  },
  {
    does: 'replaces a scalar by an object and an object by a scalar',
    type: undefined,
    document: { a: 1, b: { c: 2 } },
    patch: { a: { d: null, e: 3 }, b: 4 },
    expected: { a: { e: 3 }, b: 4 },
  },
  {
    does: 'patches what no schema names like a merge patch',
    type: undefined,
    document: { containers: [{ name: 'a' }], x: { y: 1 } },
    patch: { containers: [{ name: 'b' }], x: { z: 2 } },
    expected: { containers: [{ name: 'b' }], x: { y: 1, z: 2 } },
  },
  {
    does: 'replaces an object whose strategy is to be replaced',
    type: 'policy/v1.PodDisruptionBudgetSpec',
    document: { selector: { matchLabels: { a: '1' } } },
    patch: { selector: { matchLabels: { b: '2' } } },
    expected: { selector: { matchLabels: { b: '2' } } },
  },
];
