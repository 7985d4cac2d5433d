// StorageObjectInUseProtection and TaintNodesByCondition, case by case.
import { storageObjectInUseProtection } from '../../../../actors/admission/plugins/storage-object-in-use-protection/storage-object-in-use-protection.ts';
import { taintNodesByCondition } from '../../../../actors/admission/plugins/taint-nodes-by-condition/taint-nodes-by-condition.ts';
import { testPlugin } from './plugin-cases.ts';

const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const VOLUMES = '/api/v1/persistentvolumes';
const NODES = '/api/v1/nodes';

const claim = (metadata: object = {}): object => ({
  metadata: { name: 'it', ...metadata },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
});
const volume = {
  metadata: { name: 'it' },
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, nfs: { server: 's', path: '/' } },
};
const kept = (...finalizers: readonly string[]) => ({ metadata: { finalizers } });

testPlugin('StorageObjectInUseProtection', { plugins: [storageObjectInUseProtection] }, [
  { what: 'a claim', path: CLAIMS, body: claim(), becomes: kept('orch.io/pvc-protection') },
  { what: 'a volume', path: VOLUMES, body: volume, becomes: kept('orch.io/pv-protection') },
  {
    what: 'a claim with a finalizer',
    path: CLAIMS,
    body: claim({ finalizers: ['example.com/a'] }),
    becomes: kept('example.com/a', 'orch.io/pvc-protection'),
  },
  {
    what: 'a claim that has it',
    path: CLAIMS,
    body: claim({ finalizers: ['orch.io/pvc-protection'] }),
    becomes: kept('orch.io/pvc-protection'),
  },
  {
    what: 'a dry run',
    path: CLAIMS,
    body: claim(),
    request: { parameters: { dryRun: ['All'] } },
    becomes: kept('orch.io/pvc-protection'),
  },
  {
    what: 'an update that takes it off',
    present: [[CLAIMS, claim()]],
    verb: 'patch',
    path: `${CLAIMS}/it`,
    body: { metadata: { finalizers: null } },
    becomes: { metadata: { finalizers: undefined } },
  },
]);

const taint = { key: 'node.orch.io/not-ready', effect: 'NoSchedule' };
const node = (taints?: readonly object[]): object => ({ metadata: { name: 'it' }, spec: { taints } });

testPlugin('TaintNodesByCondition', { plugins: [taintNodesByCondition] }, [
  { what: 'a node', path: NODES, body: node(), becomes: { spec: { taints: [taint] } } },
  {
    what: 'a node with a taint',
    path: NODES,
    body: node([{ key: 'a', effect: 'NoSchedule' }]),
    becomes: { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }, taint] } },
  },
  { what: 'a node that has it', path: NODES, body: node([taint]), becomes: { spec: { taints: [taint] } } },
  {
    what: 'a node that has it with another effect',
    path: NODES,
    body: node([{ ...taint, effect: 'NoExecute' }]),
    becomes: { spec: { taints: [{ ...taint, effect: 'NoExecute' }, taint] } },
  },
  {
    what: 'a dry run',
    path: NODES,
    body: node(),
    request: { parameters: { dryRun: ['All'] } },
    becomes: { spec: { taints: [taint] } },
  },
  {
    what: 'an update that takes it off',
    present: [[NODES, node()]],
    verb: 'patch',
    path: `${NODES}/it`,
    body: { spec: { taints: null } },
    becomes: { spec: { taints: undefined } },
  },
]);
