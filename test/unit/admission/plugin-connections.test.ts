// Admission plugins hear of connections to pods, and what they say of one goes to its audit event.
import test from 'ava';
import type { AdmissionPluginKind } from '../../../actors/admission/plugins/plugin.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { badRequest } from '../../../api/status/failures.ts';
import { StatusError } from '../../../api/status/status.ts';
import { AdmissionWorld } from './admission-world.ts';
import { recorder } from './recorded-writes.ts';

const EXEC = { group: '', version: 'v1', resource: 'pods', subresource: 'exec', namespace: 'default', name: 'it' };

/** Asks as who opens an exec of a pod does. `more`: of its options. */
function connect(world: AdmissionWorld, more: JsonObject = {}): Promise<unknown> {
  const user = { name: 'tester', uid: '', groups: [], extra: {} };
  const options = { kind: 'PodExecOptions', apiVersion: 'v1', ...more };
  const asked = { type: 'connect', target: EXEC, user, userAgent: '', options } as const;
  return world.during(world.admission.ask(asked, { deadlineMs: 60_000 }));
}

test('plugins are told of connections, and may refuse them', async (t) => {
  const heard: string[] = [];
  const world = await AdmissionWorld.start({ plugins: [recorder(heard)] });
  heard.length = 0;
  t.deepEqual(await connect(world, { stdin: true }), { refused: undefined });
  const told = 'connect pods/exec default it tester ->PodExecOptions';
  t.deepEqual(heard, [`mutate ${told}`, `validate ${told}`]);
  await world.stop();
});

test('what a plugin says of a connection for its audit event is told to whoever opens it', async (t) => {
  const says: AdmissionPluginKind = {
    name: 'AlwaysAdmit',
    wants: [{ operations: ['connect'], resources: ['**'] }],
    create: () => ({ validate: (attributes) => void attributes.annotate('example.org/said', 'yes') }),
  };
  const world = await AdmissionWorld.start({ plugins: [says] });
  const answer = await connect(world);
  const said = { key: 'example.org/said', value: 'yes', level: 'Metadata' };
  t.deepEqual(answer, { refused: undefined, auditAnnotations: [said] });
  await world.stop();
});

test('what a plugin makes of the options of a connection is told to whoever opens it', async (t) => {
  const changes: AdmissionPluginKind = {
    name: 'AlwaysAdmit',
    wants: [{ operations: ['connect'], resources: ['**'] }],
    create: () => ({
      mutate: (attributes) => {
        attributes.object = { ...attributes.object, command: ['id'] };
      },
    }),
  };
  const world = await AdmissionWorld.start({ plugins: [changes] });
  const options = { kind: 'PodExecOptions', apiVersion: 'v1' };
  const answer = await connect(world, { command: ['sh'] });
  t.deepEqual(answer, { refused: undefined, changed: { ...options, command: ['id'] } });
  await world.stop();
});

test('whoever opens a connection hears what plugins warn of, refused or not', async (t) => {
  const warns: AdmissionPluginKind = {
    name: 'AlwaysAdmit',
    wants: [{ operations: ['connect'], resources: ['**'] }],
    create: () => ({
      validate: (attributes) => {
        attributes.warn('take care');
        if (attributes.object.stdin === true) throw new StatusError(badRequest('no'));
      },
    }),
  };
  const world = await AdmissionWorld.start({ plugins: [warns] });
  t.deepEqual(await connect(world), { refused: undefined, warnings: ['take care'] });
  t.deepEqual(await connect(world, { stdin: true }), { refused: badRequest('no'), warnings: ['take care'] });
  await world.stop();
});
