// PersistentVolumeClaimResize, case by case.

import test from 'ava';
import { persistentVolumeClaimResize } from '../../../../actors/admission/plugins/persistent-volume-claim-resize/persistent-volume-claim-resize.ts';
import { AdmissionWorld } from '../admission-world.ts';
import { type PluginCase, type Present, testPlugin } from './plugin-cases.ts';

const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const storageClass = (name: string, more: object = {}): Present => [
  '/apis/storage.orch.io/v1/storageclasses',
  { metadata: { name }, provisioner: 'p.example.com', ...more },
];
const claim = (storageClassName: string, more: object = {}): Present => [
  CLAIMS,
  {
    metadata: { name: 'it', ...more },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '2Gi' } },
      storageClassName,
      volumeName: 'v',
    },
  },
];
const size = (storage: string): object => ({ spec: { resources: { requests: { storage } } } });
const NOT_EXPANDABLE =
  'persistentvolumeclaims "it" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

/** On claims that are bound. */
const bound: readonly PluginCase[] = [
  {
    what: 'a claim that grows under its class',
    present: [claim('growing')],
    path: '',
    body: size('3Gi'),
    becomes: size('3Gi'),
  },
  {
    what: 'a claim that is asked for as before, in other words',
    present: [claim('fixed')],
    path: '',
    body: size('2048Mi'),
  },
  {
    what: 'a claim that grows though its class says no',
    present: [claim('fixed')],
    path: '',
    body: size('3Gi'),
    refused: NOT_EXPANDABLE,
  },
  {
    what: 'a claim that grows though its class says nothing',
    present: [claim('silent')],
    path: '',
    body: size('3Gi'),
    refused: NOT_EXPANDABLE,
  },
  {
    what: 'a claim of a class that is not there',
    present: [claim('none')],
    path: '',
    body: size('3Gi'),
    refused: NOT_EXPANDABLE,
  },
  { what: 'a claim without a class', present: [claim('')], path: '', body: size('3Gi'), refused: NOT_EXPANDABLE },
  {
    what: 'another change of a claim',
    present: [claim('fixed')],
    path: '',
    body: { metadata: { labels: { a: 'b' } } },
  },
];

for (const { what, present, body, refused, becomes } of bound) {
  test(`PersistentVolumeClaimResize: ${what} is ${refused === undefined ? 'taken' : 'refused'}`, async (t) => {
    const world = await AdmissionWorld.start({ plugins: [persistentVolumeClaimResize] });
    for (const [collection, object] of [
      storageClass('growing', { allowVolumeExpansion: true }),
      storageClass('fixed', { allowVolumeExpansion: false }),
      storageClass('silent'),
      ...(present ?? []),
    ])
      await world.created(collection, object);
    await world.write('patch', `${CLAIMS}/it/status`, { body: { status: { phase: 'Bound' } } });
    const answer = await world.write('patch', `${CLAIMS}/it`, { body: body! });
    t.is(answer.code, refused === undefined ? 200 : 403, answer.body.message);
    if (refused !== undefined) t.is(answer.body.message, refused as string);
    if (becomes !== undefined)
      t.like(answer.body.spec.resources, (becomes as { spec: { resources: object } }).spec.resources);
    await world.stop();
  });
}

testPlugin(
  'PersistentVolumeClaimResize',
  { plugins: [persistentVolumeClaimResize], present: [storageClass('growing', { allowVolumeExpansion: true })] },
  [
    {
      what: 'a claim that grows before it is bound',
      present: [claim('growing')],
      verb: 'patch',
      path: `${CLAIMS}/it`,
      body: size('3Gi'),
      code: 422,
      refused: /except resources.requests for bound claims$/,
    },
    { what: 'a large claim', path: CLAIMS, body: claim('growing')[1] },
  ],
);
