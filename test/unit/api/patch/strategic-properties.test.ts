// Strategic merge patches of any two objects of a type: the patch of their difference turns the one into the other, and
// says it in parts that can be said apart.
import test from 'ava';
import fc from 'fast-check';
import type { JsonObject } from '../../../../api/json/json-value.ts';
import { applyStrategicMergePatch } from '../../../../api/patch/strategic-merge-patch.ts';
import { schemaOf } from '../../../../api/schema/schema.ts';
import { DIALECTS } from '../../../../config/dialect.ts';
import { casesOf } from '../../../server/effort.ts';
import { frozen } from '../sample-type.ts';
import { strategicPatch } from './strategic-differ.ts';

const RUN = { numRuns: casesOf(80), seed: 20_211_206 };
const SCHEMA = schemaOf(DIALECTS.orch);

const text = fc.constantFrom('1', '2', '3');
const name = fc.constantFrom('a', 'b', 'c', 'd');
const few = { maxLength: 4 } as const;

/** Objects with some of these members. */
function some(
  members: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  ...required: string[]
): fc.Arbitrary<JsonObject> {
  return fc.record(members, { requiredKeys: required }) as fc.Arbitrary<JsonObject>;
}

/** Lists in any order whose elements differ in a member. */
function keyed(
  by: string,
  key: fc.Arbitrary<unknown>,
  members: Readonly<Record<string, fc.Arbitrary<unknown>>>,
): fc.Arbitrary<readonly JsonObject[]> {
  return fc.uniqueArray(some({ ...members, [by]: key }, by), { ...few, selector: (element) => element[by] });
}

const map = fc.dictionary(name, text, { maxKeys: 3, noNullPrototype: true });
const set = fc.uniqueArray(name, few);
const metadata = some({
  labels: map,
  annotations: map,
  finalizers: set,
  ownerReferences: keyed('uid', name, { apiVersion: text, kind: text, name: text, controller: fc.boolean() }),
});
const port = fc.constantFrom(80, 81, 82);
const container = {
  image: text,
  args: fc.array(text, few),
  env: keyed('name', name, { value: text, valueFrom: some({ fieldRef: some({ fieldPath: text }) }) }),
  envFrom: fc.array(some({ prefix: text }), { maxLength: 2 }),
  ports: keyed('containerPort', port, { name: text, hostPort: port }),
  volumeMounts: keyed('mountPath', name, { name: text, readOnly: fc.boolean() }),
  volumeDevices: keyed('devicePath', name, { name: text }),
  resources: some({ limits: map, requests: map }),
  tty: fc.boolean(),
};
const volume = {
  emptyDir: some({ medium: text }),
  hostPath: some({ path: text }),
  secret: some({ secretName: text, items: fc.array(some({ key: text, path: text }), { maxLength: 2 }) }),
};
const podSpec = some({
  containers: keyed('name', name, container),
  initContainers: keyed('name', name, { image: text }),
  volumes: keyed('name', name, volume),
  imagePullSecrets: keyed('name', name, {}),
  hostAliases: keyed('ip', text, { hostnames: fc.array(name, few) }),
  tolerations: fc.array(some({ key: name, value: text }), few),
  topologySpreadConstraints: keyed('topologyKey', name, { maxSkew: port }),
  nodeSelector: map,
  hostNetwork: fc.boolean(),
});
const condition = keyed('type', name, { status: text, reason: text });

const TYPES: Readonly<Record<string, fc.Arbitrary<JsonObject>>> = {
  'core/v1.Pod': some({ metadata, spec: podSpec, status: some({ conditions: condition, phase: text }) }),
  'core/v1.Service': some({
    metadata,
    spec: some({
      selector: map,
      ports: keyed('port', port, { name: text, targetPort: port, protocol: text }),
      externalIPs: fc.array(text, few),
    }),
  }),
  'core/v1.Node': some({
    metadata,
    spec: some({ podCIDRs: set, taints: fc.array(some({ key: name, effect: text }), few) }),
    status: some({ conditions: condition, addresses: keyed('type', name, { address: text }), capacity: map }),
  }),
  'core/v1.ServiceAccount': some({
    metadata,
    secrets: keyed('name', name, { namespace: text, uid: text }),
    imagePullSecrets: keyed('name', name, {}),
  }),
  'apps/v1.Deployment': some({
    metadata,
    spec: some({
      replicas: port,
      strategy: some({ type: text, rollingUpdate: some({ maxSurge: port, maxUnavailable: port }) }),
    }),
  }),
};

for (const [typeName, objects] of Object.entries(TYPES)) {
  const type = SCHEMA.type(typeName);
  const apply = (object: JsonObject, patch: JsonObject): JsonObject => applyStrategicMergePatch(object, patch, type);

  test(`${typeName}: the patch of a difference turns the one object into the other, once or twice`, (t) => {
    fc.assert(
      fc.property(objects, objects, (before, after) => {
        const patch = frozen(strategicPatch(before, after));
        const patched = apply(frozen(before), patch);
        t.deepEqual(patched, after);
        t.deepEqual(apply(patched, patch), after);
      }),
      RUN,
    );
  });

  test(`${typeName}: the patch of no difference says nothing and changes nothing`, (t) => {
    fc.assert(
      fc.property(objects, (object) => {
        const patch = strategicPatch(object, structuredClone(object));
        t.deepEqual(patch, {});
        t.is(apply(frozen(object), patch), object);
      }),
      { ...RUN, numRuns: casesOf(40) },
    );
  });

  test(`${typeName}: members that are patched one by one come to what they do together`, (t) => {
    fc.assert(
      fc.property(objects, objects, (before, after) => {
        const patch = strategicPatch(before, after);
        const parts = Object.entries(patch).map(([member, value]) => ({ [member]: value }));
        // A list and the directives about it belong together.
        const isApart = parts.every((part) => !Object.keys(part).some((member) => member.includes('$')));
        if (!isApart) return;
        t.deepEqual(
          parts.reduce((object: JsonObject, part) => apply(object, part), before),
          after,
        );
      }),
      { ...RUN, numRuns: casesOf(40) },
    );
  });

  test(`${typeName}: an object that is replaced as a whole is what the patch says`, (t) => {
    fc.assert(
      fc.property(objects, objects, (before, after) => {
        t.deepEqual(apply(frozen(before), frozen({ ...after, $patch: 'replace' })), after);
      }),
      { ...RUN, numRuns: casesOf(40) },
    );
  });
}
