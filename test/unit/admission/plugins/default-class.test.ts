// DefaultStorageClass and DefaultIngressClass, case by case.
import {
  defaultIngressClass,
  defaultStorageClass,
} from '../../../../actors/admission/plugins/default-class/default-class.ts';
import { type PluginCase, type Present, testPlugin } from './plugin-cases.ts';

const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const INGRESSES = '/apis/networking.orch.io/v1/namespaces/default/ingresses';
const OLDEST_INGRESSES = '/apis/extensions/v1beta1/namespaces/default/ingresses';
const OLD_INGRESSES = '/apis/networking.orch.io/v1beta1/namespaces/default/ingresses';

const storageClass = (name: string, mark?: string): Present => [
  '/apis/storage.orch.io/v1/storageclasses',
  { metadata: { name, ...(mark && { annotations: { [mark]: 'true' } }) }, provisioner: 'p.example.com' },
];
const ingressClass = (name: string, annotations: object = {}): Present => [
  '/apis/networking.orch.io/v1/ingressclasses',
  { metadata: { name, annotations }, spec: { controller: 'example.com/it' } },
];
const GOLD = storageClass('gold', 'storageclass.orch.io/is-default-class');
const OLD_GOLD = storageClass('old', 'storageclass.beta.orch.io/is-default-class');
const FRONT = ingressClass('front', { 'ingressclass.orch.io/is-default-class': 'true' });

const claim = (spec: object = {}, annotations: object = {}): object => ({
  metadata: { name: 'it', annotations },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});
const ingress = (spec: object = {}, annotations: object = {}): object => ({
  metadata: { name: 'it', annotations },
  spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } }, ...spec },
});

const claims: readonly PluginCase[] = [
  {
    what: 'a claim where no class is the default',
    path: CLAIMS,
    body: claim(),
    becomes: { spec: { storageClassName: undefined } },
  },
  {
    what: 'a claim where one class is',
    present: [GOLD],
    path: CLAIMS,
    body: claim(),
    becomes: { spec: { storageClassName: 'gold' } },
  },
  {
    what: 'a claim where one class is as of old',
    present: [OLD_GOLD],
    path: CLAIMS,
    body: claim(),
    becomes: { spec: { storageClassName: 'old' } },
  },
  {
    what: 'a dry run',
    present: [GOLD],
    path: CLAIMS,
    body: claim(),
    request: { parameters: { dryRun: ['All'] } },
    becomes: { spec: { storageClassName: 'gold' } },
  },
  {
    what: 'a claim with a class of its own',
    present: [GOLD],
    path: CLAIMS,
    body: claim({ storageClassName: 'plain' }),
    becomes: { spec: { storageClassName: 'plain' } },
  },
  {
    what: 'a claim that wants no class',
    present: [GOLD],
    path: CLAIMS,
    body: claim({ storageClassName: '' }),
    becomes: { spec: { storageClassName: '' } },
  },
  {
    what: 'a claim with a class in the annotation of old',
    present: [GOLD],
    path: CLAIMS,
    body: claim({}, { 'volume.beta.orch.io/storage-class': 'plain' }),
    becomes: { spec: { storageClassName: undefined } },
  },
  {
    what: 'a claim where two classes are the default',
    present: [GOLD, OLD_GOLD],
    path: CLAIMS,
    body: claim(),
    refused: 'persistentvolumeclaims "it" is forbidden: Internal error occurred: 2 default StorageClasses were found',
  },
  {
    what: 'a claim with a class of its own where two are the default',
    present: [GOLD, OLD_GOLD],
    path: CLAIMS,
    body: claim({ storageClassName: 'plain' }),
  },
  {
    what: 'an update of a claim that was there before the class',
    present: [[CLAIMS, claim()], GOLD],
    verb: 'patch',
    path: `${CLAIMS}/it`,
    body: { metadata: { labels: { a: 'b' } } },
    becomes: { spec: { storageClassName: undefined } },
  },
];

const ingresses: readonly PluginCase[] = [
  {
    what: 'an ingress where no class is the default',
    path: INGRESSES,
    body: ingress(),
    becomes: { spec: { ingressClassName: undefined } },
  },
  {
    what: 'an ingress where one class is',
    present: [FRONT],
    path: INGRESSES,
    body: ingress(),
    becomes: { spec: { ingressClassName: 'front' } },
  },
  {
    what: 'an ingress of v1beta1 where one class is',
    present: [FRONT],
    path: OLD_INGRESSES,
    body: { metadata: { name: 'it' }, spec: { backend: { serviceName: 's', servicePort: 80 } } },
    becomes: { spec: { ingressClassName: 'front' } },
  },
  {
    what: 'an ingress of the oldest group, which has no default class,',
    present: [FRONT],
    path: OLDEST_INGRESSES,
    body: { metadata: { name: 'it' }, spec: { backend: { serviceName: 's', servicePort: 80 } } },
    becomes: { spec: { ingressClassName: undefined } },
  },
  {
    what: 'an ingress with a class of its own',
    present: [FRONT],
    path: INGRESSES,
    body: ingress({ ingressClassName: 'back' }),
    becomes: { spec: { ingressClassName: 'back' } },
  },
  {
    what: 'an ingress with a class in the annotation of old',
    present: [FRONT],
    path: INGRESSES,
    body: ingress({}, { 'orch.io/ingress.class': 'back' }),
    becomes: { spec: { ingressClassName: undefined } },
  },
  {
    what: 'an ingress where a class is marked with something else than true',
    present: [ingressClass('odd', { 'ingressclass.orch.io/is-default-class': 'yes' })],
    path: INGRESSES,
    body: ingress(),
    becomes: { spec: { ingressClassName: undefined } },
  },
  {
    what: 'an ingress where two classes are the default',
    present: [FRONT, ingressClass('other', { 'ingressclass.orch.io/is-default-class': 'true' })],
    path: INGRESSES,
    body: ingress(),
    refused:
      'ingresses.networking.orch.io "it" is forbidden: Internal error occurred: 2 default IngressClasses were found, only 1 allowed',
  },
  {
    what: 'an update of an ingress that was there before the class',
    present: [[INGRESSES, ingress()], FRONT],
    verb: 'patch',
    path: `${INGRESSES}/it`,
    body: { metadata: { labels: { a: 'b' } } },
    becomes: { spec: { ingressClassName: undefined } },
  },
];

testPlugin('DefaultStorageClass', { plugins: [defaultStorageClass] }, claims);
testPlugin('DefaultIngressClass', { plugins: [defaultIngressClass] }, ingresses);
